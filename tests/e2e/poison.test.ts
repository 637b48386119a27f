import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

const POISON = `
import os, signal
from windlass import ExecutionContext, task, workflow

@task
async def deadly():
    os.kill(os.getpid(), signal.SIGKILL)

@workflow
async def poison(ctx: ExecutionContext):
    await deadly()
`

test('D6: work that kills every worker: fails after max_attempts with the reason', async () => {
  const system = await startSystem({ workers: 0, env: { SVC_EXECUTIONS__MAX_ATTEMPTS: '2' } })
  const api = client(system.url)
  await api.upload(POISON)
  const { execution_id } = await api.run('poison', 'async')
  for (const name of ['first', 'second']) {
    const worker = await system.startWorker({ name })
    await expect.poll(() => worker.hasEnded).toBe(true)
  }
  const done = await api.until(execution_id, 'FAILED')
  expect(done.output).toMatchObject({
    type: 'WorkerLost',
    message: expect.stringContaining('2 workers died'),
  })
})
