import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { analyseSource } from './analysis-fixture.ts'
import { compileCases, WORKFLOW } from './compile-fixture.ts'

const CORPUS = new URL('./corpus/', import.meta.url)
const PYTHON = process.env.TEST_PYTHON ?? 'python3'
const hasPython = spawnSync(PYTHON, ['--version']).status === 0

interface Found {
  kind: 'workflow' | 'task'
  function: string
  options: Record<string, unknown>
}
interface Judged {
  name: string
  error?: string
  line?: number
  found?: Found[]
}

/** Findings of CPython for the sources, in their order. */
function judged(sources: Map<string, Buffer>): Judged[] {
  const lines = [...sources].map(([name, source]) =>
    JSON.stringify({ name, source: source.toString('base64') }),
  )
  const script = fileURLToPath(new URL('./reference.py', import.meta.url))
  const { stdout, stderr } = spawnSync(PYTHON, ['-W', 'ignore', script], {
    input: lines.join('\n'),
    maxBuffer: 64 * 1_048_576,
  })
  expect(stderr.toString()).toBe('')
  return stdout
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function analysed(source: Buffer) {
  try {
    return { workflows: analyseSource(source, ['windlass', 'flux']) }
  } catch (error) {
    const { message, details } = error as Fault
    return { refused: message, line: details?.line }
  }
}

const corpus = new Map(
  readdirSync(CORPUS)
    .filter((name) => name.endsWith('.py'))
    .map((name) => [name.slice(0, -3), readFileSync(new URL(name, CORPUS))]),
)
/** Syntax of Python 3.12 and later, and encodings that CPython accepts and the analysis refuses. */
const NEW_SYNTAX = /^(generic_function|recursive_alias|f_strings)$/
const NOT_UTF8 = /^refused_(latin1|not_utf8)$/
/** Sources that need more than imports to resolve. */
const BY_VALUE = /^(alias_of_alias|shadowed|star_import)$/

test.skipIf(!hasPython)('corpus: syntax errors exactly where CPython reports one', () => {
  for (const { name, error } of judged(corpus)) {
    if (NEW_SYNTAX.test(name) || NOT_UTF8.test(name)) continue
    const { refused = '' } = analysed(corpus.get(name) as Buffer)
    const isSyntax = /^Syntax error|null byte|not UTF-8/.test(refused)
    expect(isSyntax, `${name}: ${error} | ${refused}`).toBe(error !== undefined)
  }
})

const GROUPS =
  'functions loops comprehensions names futures targets calls parameters patterns statements tokens'
/** Sources with syntax of Python 3.12 and later. */
const TYPE_PARAMETERS = /^\s*(async )?(def|class|type) \w+(\[| = )/m

test.skipIf(!hasPython).each(GROUPS.split(' '))(
  '%s that Python does not compile: CPython reports the same line',
  (group) => {
    const sources = new Map(
      compileCases(group).map((source) => [source, Buffer.from(source + WORKFLOW)]),
    )
    for (const { name, error, line } of judged(sources)) {
      expect(error, name).toBeDefined()
      const { line: found } = analysed(sources.get(name) as Buffer)
      if (!TYPE_PARAMETERS.test(name)) expect(found, `${name}: ${error}`).toBe(line)
    }
  },
)

test.skipIf(!hasPython)('sources that resemble the refused ones: CPython compiles them', () => {
  const sources = compileCases('accepted').map((source): [string, Buffer] => [
    source,
    Buffer.from(source + WORKFLOW),
  ])
  for (const { name, error } of judged(new Map(sources))) expect(error, name).toBeUndefined()
})

/** Computed names, which CPython's parser alone does not evaluate. */
const COMPUTED = /^(constants|f_strings|lines_joined)$/
const compared = (hasPython ? judged(corpus) : []).filter(
  ({ name, found = [] }) => found.length > 0 && !BY_VALUE.test(name),
)

test.skipIf(!hasPython).each(compared)(
  '$name: same workflows and tasks as the reference',
  ({ name, found = [] }) => {
    const { workflows } = analysed(corpus.get(name) as Buffer)
    if (!workflows) return expect(name).toMatch(/^refused/)
    const seen = found.filter(({ kind }) => kind === 'workflow')
    const named = seen.map((one) => `${one.options.name ?? one.function}`.normalize('NFC'))
    expect(workflows).toHaveLength(seen.length)
    if (!COMPUTED.test(name)) expect(workflows.map((workflow) => workflow.name)).toEqual(named)
    const tasks = found.map((one) => one.options.name ?? one.function)
    const known = workflows.flatMap(({ metadata_json }) => JSON.parse(metadata_json).task_names)
    // A task can be a plain function, which the reference does not collect.
    for (const task of known) expect([...tasks, 'plain']).toContain(task)
  },
)

/** Tokens that form valid and invalid Python, in pseudo-random order. */
const PIECES =
  'break|continue|yield|await x|global x|nonlocal x|for x in x:|while x:|except* E:|x := 1|(x := 1)|*x|del |__debug__|f(a=1, |match x:|case x:|if x:|\n|\\\n|\n    |\\\n  |\n\t|pass|x = 1|(|)|[|]|{|}|"|\'|"""|f"|{x}|#|:|,|;|def f():|async def g(): |return|lambda: 0|@d|class A:|else:|try:|except:|\r\n|\f| '.split(
    '|',
  )

test.skipIf(!hasPython)('random tokens: accepted exactly if CPython accepts them', () => {
  let state = 7
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  const made = new Map(
    Array.from({ length: 2_000 }, (_, i): [string, Buffer] => {
      const pieces = Array.from({ length: 1 + random(6) }, () => PIECES[random(PIECES.length)])
      return [
        `${i}`,
        Buffer.from(
          `${pieces.join('')}\nfrom windlass import workflow\n@workflow\nasync def job(ctx): pass\n`,
        ),
      ]
    }),
  )
  const differing = judged(made).filter(({ name, error }) => {
    const { refused = '' } = analysed(made.get(name) as Buffer)
    return (error === undefined) === refused.startsWith('Syntax error')
  })
  const shown = differing.map(({ name, error }) => [
    made.get(name)?.toString().split('\nfrom')[0],
    error,
  ])
  expect(shown).toEqual([])
})
