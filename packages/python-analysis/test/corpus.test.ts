import { readdirSync, readFileSync } from 'node:fs'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { analyseSource } from './analysis-fixture.ts'

const CORPUS = new URL('./corpus/', import.meta.url)
const names = readdirSync(CORPUS)
  .filter((name) => name.endsWith('.py'))
  .map((name) => name.slice(0, -3))

/** Result or refusal of a source, in the form of the golden files. */
function analysed(source: Uint8Array): unknown {
  try {
    return analyseSource(source, ['windlass', 'flux']).map((workflow) => {
      const { namespace, name, metadata_json, input_schema_json, imports } = workflow
      return {
        namespace,
        name,
        imports,
        metadata: JSON.parse(metadata_json),
        requests: JSON.parse(workflow.requests_json),
        affinity: JSON.parse(workflow.affinity_json),
        requirement: workflow.requirement,
        input_schema: input_schema_json && JSON.parse(input_schema_json),
      }
    })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { refused: error.message, ...error.details }
  }
}

const sourceOf = (name: string) => readFileSync(new URL(`${name}.py`, CORPUS))

test('corpus: has at least 79 sources', () => {
  expect(names.length).toBeGreaterThanOrEqual(79)
})

test.each(names)('%s: matches its golden file', async (name) => {
  const found = `${JSON.stringify(analysed(sourceOf(name)), null, 2)}\n`
  await expect(found).toMatchFileSnapshot(`corpus/${name}.golden`)
  expect(JSON.stringify(analysed(sourceOf(name)), null, 2)).toBe(found.trimEnd())
})

/** Rewrites of a source that keep its declarations. */
const disguises: [string, (source: string) => string][] = [
  ['comments', (source) => `# coding: utf-8\n# @workflow\n${source}\n# end\n`],
  ['blank lines', (source) => `\n\n   \n${source}\n\n`],
  ['windows line ends', (source) => source.replaceAll(/\r?\n/g, '\r\n')],
  [
    'a comment on each line of an import',
    (source) => source.replace(/^(from windlass import [^(\n]*)$/m, '$1  # the SDK'),
  ],
  [
    'an import in brackets',
    (source) =>
      source.replace(
        /^from windlass import ([^(*\n#\\;]+)$/m,
        (_, what: string) => `from windlass import (\n  ${what.trim()},\n)`,
      ),
  ],
]
/** Refusals contain line numbers, and the other files test line ends themselves. */
const PLAIN = names.filter(
  (name) => !/^refused|line_ends|byte_order|utf8_cookie|lines_joined/.test(name),
)

test.each(disguises)('%s: same declarations', (_, disguise) => {
  for (const name of PLAIN) {
    const source = sourceOf(name).toString()
    expect(analysed(Buffer.from(disguise(source))), name).toEqual(analysed(sourceOf(name)))
  }
})
