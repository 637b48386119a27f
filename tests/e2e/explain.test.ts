import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

const SOURCE = `
from windlass import ExecutionContext, workflow


@workflow.with_options(affinity={"zone": "eu"})
async def far(context: ExecutionContext):
    return "done"
`

test('whoever asks why work waits is told which worker would help', async () => {
  const system = await startSystem()
  const api = client(system.url)
  await api.upload(SOURCE)
  const { execution_id } = await api.run('far', 'async')
  const [{ name }] = await api.json('GET', '/workers')
  const why = () => api.json('GET', `/executions/${execution_id}/explain`)
  expect(await why()).toMatchObject({
    state: 'SCHEDULED',
    reason: 'the one connected worker cannot run it',
    queue_position: 1,
    requirement: { affinity: { zone: 'eu' }, cpu: null },
    workers: [{ name, status: 'online', eligible: false, unmet: "label 'zone' = 'eu'" }],
    suggestion: `a worker with label 'zone' = 'eu', else like '${name}'`,
  })
  await api.json('GET', `/workflows/default/far/cancel/${execution_id}`)
  expect(await why()).toMatchObject({
    reason: 'it has ended: CANCELLED',
    queue_position: null,
    suggestion: null,
  })
})
