import { expect, onTestFinished, test } from 'vitest'
import { cancel, clientsOf, event, get, run, setup, worker } from './executions-fixture.ts'

/** Two replicas, with a client for each. */
async function twins() {
  const { ports } = await setup({ replicas: 2 })
  const clients = ports.map((port) => clientsOf([port]))
  onTestFinished(() => {
    for (const client of clients) client.close()
  })
  const [here, there] = clients
  if (!here || !there) throw new Error('two replicas are needed')
  return { here, there }
}

test('a change by another replica: seen in spite of the cached row', async () => {
  const { here, there } = await twins()
  const { execution_id } = await run(here)
  const w = worker(here)
  await w.lease()
  await w.claim(execution_id)
  expect(await cancel(there, execution_id)).toMatchObject({ state: 'CANCELLING' })
  const reported = await w.report(execution_id, 'RUNNING', {
    generation: 1,
    events: [event('TASK_STARTED')],
  })
  expect(reported.state).toBe('CANCELLING')
  expect((await get(there, execution_id)).state).toBe('CANCELLING')
})

test('requeued by another replica: its worker is refused here', async () => {
  const { here, there } = await twins()
  const { execution_id } = await run(here)
  const w = worker(here)
  await w.lease()
  await w.claim(execution_id)
  await there.requeue({ worker_name: w.worker_name, connection_generation: 1, died: true })
  const late = w.report(execution_id, 'COMPLETED', {
    generation: 1,
    events: [event('WORKFLOW_COMPLETED')],
  })
  await expect(late).rejects.toMatchObject({ kind: 'conflict' })
  expect((await get(here, execution_id)).state).toBe('SCHEDULED')
})

test('C9: a checkpoint of many events repeated at another replica: each event is in the log once', async () => {
  const { here, there } = await twins()
  const { execution_id } = await run(here)
  const w = worker(here)
  await w.lease()
  await w.claim(execution_id)
  // The entries before and after the first 32 are found in different ways.
  const events = Array.from({ length: 40 }, () => event('TASK_STARTED'))
  await w.report(execution_id, 'RUNNING', { generation: 1, events })
  const later = event('TASK_STARTED')
  await worker(there, w.worker_name).report(execution_id, 'RUNNING', {
    generation: 1,
    events: [...events, later],
  })
  const { entries } = await here.log({ execution_id, after_seq: 0, limit: 0 })
  const ids = entries.flatMap(({ type, event_id }) => (type === 'TASK_STARTED' ? [event_id] : []))
  expect(ids).toEqual([...events, later].map(({ event_id }) => event_id))
})

test('an event received by another replica: not appended again', async () => {
  const { here, there } = await twins()
  const { execution_id } = await run(here)
  const w = worker(here)
  await w.lease()
  await w.claim(execution_id)
  const started = event('TASK_STARTED')
  await worker(there, w.worker_name).report(execution_id, 'RUNNING', {
    generation: 1,
    events: [started],
  })
  await w.report(execution_id, 'RUNNING', { generation: 1, events: [started] })
  const { entries } = await here.log({ execution_id, after_seq: 0, limit: 0 })
  expect(entries.filter(({ type }) => type === 'TASK_STARTED')).toHaveLength(1)
})
