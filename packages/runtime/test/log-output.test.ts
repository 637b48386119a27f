import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const LOG = fileURLToPath(new URL('../src/process/log.ts', import.meta.url))

/** Runs a script that has `log`, and `writes()`: the number of writes so far. Returns its output. */
async function run(script: string): Promise<string[]> {
  const text = `
    import fs from 'node:fs'
    import { setTimeout as sleep } from 'node:timers/promises'
    const write = fs.write
    let count = 0
    fs.write = (...args) => (count++, write(...args))
    const writes = () => count
    const { createLog } = await import('${LOG}')
    const log = createLog('talkative', 'info')
    ${script}`
  const args = ['--conditions=windlass', '--import', 'tsx', '--input-type=module', '-e', text]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const lines = stdout.trim().split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line).msg)
}

test('no lines: nothing is written while time passes', async () => {
  expect(await run('await sleep(500); log.info(String(writes()))')).toEqual(['0'])
})

test('several lines: one write, without waiting for the end of the process', async () => {
  const script = `
    for (let i = 0; i < 5; i++) log.info('line')
    while (writes() === 0) await sleep(10)
    await sleep(300)
    log.info(String(writes()))`
  expect(await run(script)).toEqual([...Array(5).fill('line'), '1'])
})

test('a process that ends or exits: its last lines are written', async () => {
  expect(await run(`log.info('last')`)).toEqual(['last'])
  expect(await run(`log.info('last'); process.exit()`)).toEqual(['last'])
  expect(await run(`log.info('first'); log.fatal('last'); process.reallyExit(0)`)).toEqual([
    'first',
    'last',
  ])
})

test('more lines than the buffer holds: all are written in their order', async () => {
  const script = `
    for (let i = 0; i < 2_000; i++) {
      log.info(String(i))
      if (i % 500 === 0) await sleep(1)
    }`
  expect(await run(script)).toEqual(Array.from({ length: 2_000 }, (_, i) => String(i)))
})
