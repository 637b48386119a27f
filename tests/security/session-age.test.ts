import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withTest } from '@windlass/testkit/defer'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, test } from 'vitest'
import { startAuthSystem } from './auth-system.ts'

const HANG_MS = 60_000

/** Runs until a file exists, and computes without reports most of the time. */
const SOURCE = `
import asyncio, os
from windlass import ExecutionContext, workflow

@workflow
async def patient(ctx: ExecutionContext):
    while not os.path.exists(ctx.input):
        await asyncio.sleep(0.1)
    return "done"
`

test('a session reaches session_max_age while its worker runs: it registers again and keeps its work', {
  timeout: 240_000,
}, async () => {
  let output = ''
  const auth = await startAuthSystem(withTest, {
    singleProcess: false,
    replicas: { gateway: 2, identity: 2 },
    env: { SVC_WORKERS__SESSION_MAX_AGE: '3', SVC_WORKERS__HEARTBEAT_INTERVAL: '1' },
    onOutput: (text) => {
      output += text
    },
  })
  expect((await auth.upload(SOURCE)).status).toBe(200)
  await auth.system.startWorker({ name: 'aged' })
  const path = join(temporaryFolder('go'), 'go')
  const { execution_id } = await auth.requestOk('POST /workflows/default/patient/run/async', {
    body: path,
  })
  const read = () => auth.requestOk(`GET /executions/${execution_id}?detailed=true`)
  const state = async () => (await read()).state
  await expect.poll(state, { timeout: HANG_MS }).toBe('RUNNING')

  const renewals = () => output.split('session lost, registering again').length - 1
  await expect.poll(renewals, { timeout: HANG_MS }).toBeGreaterThanOrEqual(2)
  await writeFile(path, '')
  await expect.poll(state, { timeout: HANG_MS }).toBe('COMPLETED')
  const { events, current_worker } = (await read()) as unknown as {
    events: { type: string }[]
    current_worker: string
  }
  const count = (type: string) => events.filter((event) => event.type === type).length
  expect([count('WORKFLOW_SCHEDULED'), count('WORKFLOW_CLAIMED')]).toEqual([1, 1])
  expect(current_worker).toBe('aged')
})
