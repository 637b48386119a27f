import { readdirSync } from 'node:fs'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { analyseSource } from './analysis-fixture.ts'
import { CASES, compileCases, WORKFLOW } from './compile-fixture.ts'

/** Refusal of a source with line, column and reason, in the form of the golden files. */
function refusalOf(source: string): string {
  try {
    analyseSource(`${source}${WORKFLOW}`)
    return 'accepted'
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { line, column, text } = error.details as { line: number; column: number; text: string }
    const start = `Syntax error in line ${line}, column ${column}: `
    expect(error.message.startsWith(start), error.message).toBe(true)
    return `${line}:${column} ${error.message.slice(start.length, -`: ${text.trim()}`.length)}`
  }
}

const groups = readdirSync(CASES)
  .filter((name) => name.endsWith('.py'))
  .map((name) => name.slice(0, -3))

test.each(groups.filter((group) => group !== 'accepted'))(
  '%s that Python does not compile: refused with line, column and reason',
  async (group) => {
    const found = compileCases(group).map(refusalOf)
    expect(found).not.toContain('accepted')
    await expect(`${found.join('\n')}\n`).toMatchFileSnapshot(`compile/${group}.golden`)
  },
)

test('sources that resemble the refused ones: accepted', () => {
  for (const source of compileCases('accepted')) expect(refusalOf(source), source).toBe('accepted')
})

test('cases: at least 200 refused and 80 accepted', () => {
  const accepted = compileCases('accepted').length
  const all = groups.flatMap((group) => compileCases(group)).length
  expect(all - accepted).toBeGreaterThanOrEqual(200)
  expect(accepted).toBeGreaterThanOrEqual(80)
})
