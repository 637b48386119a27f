import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import { startSystem } from '@windlass/testkit/system'
import { expect, onTestFinished, test } from 'vitest'
import { client } from './api.ts'
import { HANG_MS, TWO_OF_EACH } from './execution-fixture.ts'

const SOURCE = `
import asyncio, os, time
from windlass import ExecutionContext, task, workflow

@task
async def tick(path: str, n: int):
    with open(path, "a") as ledger:
        ledger.write(f"{os.getpid()} {time.time()}\\n")
    await asyncio.sleep(0.05)
    return n

@workflow.with_options(runner="inprocess")
async def ticks(ctx: ExecutionContext):
    for n in range(600):
        await tick(ctx.input, n)
`

/** A process that writes 20 times a second and has written nothing for this time has ended its work. */
const QUIET_MS = 2_000

test('C6: stopped worker continues after its eviction: stops the work once it learns of the lost claim', async () => {
  const system = await startSystem({ workers: 0, replicas: TWO_OF_EACH })
  const api = client(system.url)
  const path = join(temporaryFolder('ledger'), 'ledger')
  /** Times at which a process wrote, in Unix milliseconds. */
  const ledger = async (pid: number | undefined): Promise<number[]> => {
    const text = await readFile(path, 'utf8').catch(() => '')
    const lines = text.split('\n').map((line) => line.split(' '))
    return lines.flatMap(([by, at]) => (by === String(pid) ? [Number(at) * 1_000] : []))
  }
  const tickingAs = (pid: number | undefined) =>
    expect.poll(async () => (await ledger(pid)).length, { timeout: HANG_MS }).toBeGreaterThan(5)

  const isQuiet = async (pid: number | undefined) => {
    const before = (await ledger(pid)).length
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
    return (await ledger(pid)).length === before
  }

  await api.upload(SOURCE)
  // Without children: a signal stops one process, and this test is about all of a worker.
  const own = ['--children', '0']
  const first = await system.startWorker({ name: 'first', args: own })
  const { execution_id } = await api.run('ticks', 'async', path)
  await tickingAs(first.pid)
  first.signal('SIGSTOP')
  onTestFinished(() => first.signal('SIGCONT'))
  const stoppedAt = Date.now()
  await api.until(execution_id, 'SCHEDULED')
  const evictedBy = Date.now()
  const second = await system.startWorker({ name: 'second', args: own })
  await tickingAs(second.pid)
  const continuedAt = Date.now()
  first.signal('SIGCONT')
  // A continued worker learns of the lost claim from its next checkpoint or ping.
  await expect.poll(() => isQuiet(first.pid), { timeout: HANG_MS }).toBe(true)

  const [old, young] = [await ledger(first.pid), await ledger(second.pid)]
  expect(old.filter((at) => at > stoppedAt + 500 && at < continuedAt)).toEqual([])
  expect(Math.min(...young)).toBeGreaterThan(stoppedAt)
  expect(Math.max(...young)).toBeGreaterThan(Math.max(...old))
  expect(evictedBy).toBeGreaterThan(stoppedAt)
  expect(await api.status(execution_id)).toMatchObject({
    current_worker: 'second',
    state: 'RUNNING',
  })
  const cancelled = await api.json(
    'GET',
    `/workflows/default/ticks/cancel/${execution_id}?mode=sync`,
  )
  expect(cancelled.state).toBe('CANCELLED')
})
