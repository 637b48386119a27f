import { expect, test } from 'vitest'
import { event, get, run, setup, worker } from './executions-fixture.ts'

test('a terminal event without a terminal state: refused, and the row is unchanged', async () => {
  const { client } = await setup()
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  for (const state of ['RUNNING', 'CLAIMED', 'PAUSED'])
    for (const end of ['WORKFLOW_COMPLETED', 'WORKFLOW_FAILED', 'WORKFLOW_CANCELLED']) {
      const events = [event('TASK_STARTED'), event(end)]
      await expect(w.report(execution_id, state, { generation: 1, events })).rejects.toMatchObject({
        kind: 'unprocessable',
        details_json: expect.stringContaining('"events",1,"type"'),
      })
    }
  expect(await get(client, execution_id)).toMatchObject({ state: 'CLAIMED', last_seq: 2 })
  await w.report(execution_id, 'COMPLETED', {
    generation: 1,
    events: [event('WORKFLOW_COMPLETED')],
  })
  expect(await get(client, execution_id)).toMatchObject({ state: 'COMPLETED', last_seq: 3 })
})
