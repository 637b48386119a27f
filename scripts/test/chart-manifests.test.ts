import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../packages/testkit/src/folder.ts'
import { checkChart, VALUE_SETS } from '../lint/chart-manifests.ts'
import { run } from '../setup/run.ts'

/** Programs that fail where their first argument, or one of the further ones, matches. */
function fakeTools({ failing = 'none' } = {}) {
  const program = path.join(temporaryFolder('chart'), 'program')
  writeFileSync(
    program,
    `#!/bin/sh\ncase "$*" in *${failing}*) echo "wrong: ${failing}"; exit 1 ;; esac\n`,
  )
  chmodSync(program, 0o755)
  return { helm: program, kubeconform: program }
}

async function check(tools: Parameters<typeof checkChart>[0]) {
  const lines: string[] = []
  const isGood = await checkChart(tools, (line) => lines.push(line))
  return { isGood, lines }
}

test('tools that cannot be had: one line says SKIPPED with the reason, and nothing fails', async () => {
  const reason = '`go install helm` failed (1):\n    go: downloading\n    dial tcp: no route'
  expect(await check(reason)).toEqual({
    isGood: true,
    lines: ['chart: SKIPPED, `go install helm` failed (1): dial tcp: no route'],
  })
})

test('tools that accept everything: each value set passes', async () => {
  const { isGood, lines } = await check(fakeTools())
  expect(isGood).toBe(true)
  expect(lines.map((line) => line.split(': ')[0])).toEqual(
    VALUE_SETS.map((set) => `chart, value set ${set}`),
  )
})

test.each(['lint', 'template', 'schema-location'])(
  'a %s that fails: the check fails with its output',
  async (failing) => {
    const { isGood, lines } = await check(fakeTools({ failing }))
    expect(isGood).toBe(false)
    expect(lines.filter((line) => line.includes(`wrong: ${failing}`))).toHaveLength(
      VALUE_SETS.length,
    )
  },
)

test('a value set that is refused: fails the check, the others pass', async () => {
  const { isGood, lines } = await check(fakeTools({ failing: 'sets/ha.yaml' }))
  expect(isGood).toBe(false)
  expect(lines.filter((line) => line.endsWith(' passed'))).toHaveLength(VALUE_SETS.length - 1)
})

test('a program that exceeds its limit: is ended, and the error names both', async () => {
  await expect(run('sleep', ['60'], { limitMs: 50 })).rejects.toThrow(
    '`sleep 60` took longer than 0.05 s',
  )
})
