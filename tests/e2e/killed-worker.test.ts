import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'
import { HANG_MS, TWO_OF_EACH } from './execution-fixture.ts'

/** Runs on the first worker until that is killed, and ends at once on the second. */
const SOURCE = `
import asyncio
from windlass import ExecutionContext, task, workflow

@task
async def started():
    return "yes"

@workflow
async def long(ctx: ExecutionContext):
    await started()
    while ctx.current_worker == "first":
        await asyncio.sleep(0.05)
    return ctx.current_worker
`

/** The default interval. The timeout is far longer than the test waits. */
const HEARTBEATS = {
  SVC_WORKERS__HEARTBEAT_INTERVAL: '10',
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '600',
}

test('a worker is killed: its work moves before the heartbeat timeout', async () => {
  const system = await startSystem({ workers: 0, replicas: TWO_OF_EACH, env: HEARTBEATS })
  const api = client(system.url)
  await api.upload(SOURCE)
  const first = await system.startWorker({ name: 'first' })
  const { execution_id } = await api.run('long', 'async')
  const taskEnds = async () =>
    (await api.status(execution_id)).events.some(
      ({ type }: { type: string }) => type === 'TASK_COMPLETED',
    )
  await expect.poll(taskEnds, { timeout: HANG_MS }).toBe(true)
  await system.startWorker({ name: 'second' })

  process.kill(first.pid ?? expect.unreachable(), 'SIGKILL')
  const killedAt = performance.now()
  const done = await api.until(execution_id, 'COMPLETED')
  expect(done.output).toBe('second')
  console.info(
    `handover: ${Math.round(performance.now() - killedAt)} ms after the kill, promised 8,000 ms`,
  )
}, 180_000)
