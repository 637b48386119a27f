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

@workflow
async def harmless(ctx: ExecutionContext):
    return "done"
`

const GIVEN_UP = {
  type: 'WorkerLost',
  message: expect.stringContaining('2 workers or processes died'),
}

async function startPoison() {
  const system = await startSystem({
    singleProcess: true,
    workers: 0,
    env: { SVC_EXECUTIONS__MAX_ATTEMPTS: '2' },
  })
  const api = client(system.url)
  await api.upload(POISON)
  const { execution_id } = await api.run('poison', 'async')
  return { system, api, execution_id }
}

test('D6: work that kills every worker: fails after max_attempts with the reason', async () => {
  const { system, api, execution_id } = await startPoison()
  for (const name of ['first', 'second']) {
    const worker = await system.startWorker({ name, args: ['--children', '0'] })
    await expect.poll(() => worker.hasEnded).toBe(true)
  }
  expect((await api.until(execution_id, 'FAILED')).output).toMatchObject(GIVEN_UP)
})

test('work that kills its process: fails after max_attempts, and its worker continues', async () => {
  const { system, api, execution_id } = await startPoison()
  const worker = await system.startWorker({ name: 'only' })
  expect((await api.until(execution_id, 'FAILED')).output).toMatchObject(GIVEN_UP)
  expect(await api.run('harmless', 'sync')).toMatchObject({ state: 'COMPLETED', output: 'done' })
  expect(worker.hasEnded).toBe(false)
})
