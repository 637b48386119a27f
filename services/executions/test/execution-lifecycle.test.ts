import { expect, test } from 'vitest'
import { cancel, event, get, resume, run, setup, worker } from './executions-fixture.ts'

const types = (log: { type: string }[]) => log.map(({ type }) => type)

test('a run: queued, leased, claimed and completed, with each event in its log', async () => {
  const { client } = await setup()
  const { execution_id, state } = await run(client)
  expect(state).toBe('SCHEDULED')
  const w = worker(client)
  const { leases, loads } = await w.lease()
  expect(loads).toEqual([{ worker_name: w.worker_name, used: 1 }])
  expect(leases[0]).toMatchObject({
    resumed: false,
    execution: {
      execution_id,
      state: 'SCHEDULED',
      worker_name: w.worker_name,
      claim_generation: 1,
    },
    execution_token: expect.stringMatching(/^ey.+\..+\..+$/),
  })
  expect(leases[0]?.execution?.input_json).toBe('{"n":9007199254740993}')

  const claimed = await w.claim(execution_id)
  expect(claimed).toMatchObject({ state: 'CLAIMED', claim_generation: 1 })
  expect(types(claimed.log)).toEqual(['WORKFLOW_SCHEDULED', 'WORKFLOW_CLAIMED'])
  const generation = 1
  expect(
    await w.report(execution_id, 'RUNNING', { generation, events: [event('WORKFLOW_STARTED')] }),
  ).toMatchObject({ state: 'RUNNING' })
  const events = [
    event('TASK_COMPLETED', { value_json: '1e400' }),
    event('WORKFLOW_COMPLETED', { value_json: '"\\ud800"' }),
  ]
  const done = await w.report(execution_id, 'COMPLETED', { generation, events })
  expect(done).toMatchObject({
    state: 'COMPLETED',
    output_json: '"\\ud800"',
    worker_name: w.worker_name,
  })
  const { entries, more } = await client.log({ execution_id, after_seq: 0, limit: 0 })
  expect(more).toBe(false)
  expect(types(entries)).toEqual([
    'WORKFLOW_SCHEDULED',
    'WORKFLOW_CLAIMED',
    'WORKFLOW_STARTED',
    'TASK_COMPLETED',
    'WORKFLOW_COMPLETED',
  ])
  expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
  expect(entries[3]?.value_json).toBe('1e400')
})

test('a paused execution: waits for its resume, and one worker receives the body', async () => {
  const { client } = await setup()
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  const pause = event('WORKFLOW_PAUSED', { value_json: '{"name":"gate","output":{"q":1.0}}' })
  await w.report(execution_id, 'PAUSED', {
    generation: 1,
    events: [event('TASK_PAUSED', { source_id: 'pause_1' }), pause],
  })
  expect(await get(client, execution_id)).toMatchObject({
    state: 'PAUSED',
    pause_output_json: '{"q":1.0}',
  })
  expect((await w.lease()).leases).toEqual([])

  const resumed = await resume(client, execution_id, '{"go":true}')
  expect(resumed).toMatchObject({ state: 'RESUMING', worker_name: '' })
  await expect(resume(client, execution_id, '2')).rejects.toMatchObject({ kind: 'conflict' })
  const { leases } = await w.lease()
  expect(leases[0]).toMatchObject({
    resumed: true,
    execution: { state: 'RESUME_SCHEDULED', claim_generation: 2 },
  })
  expect(leases[0]?.log.find(({ type }) => type === 'WORKFLOW_RESUMING')?.value_json).toBe(
    '{"go":true}',
  )
  expect(await w.claim(execution_id)).toMatchObject({ state: 'RESUME_CLAIMED' })
  await w.report(execution_id, 'RUNNING', { generation: 2 })
})

test('a loss before the resume body was received: RESUMING; after it: SCHEDULED', async () => {
  const { client } = await setup()
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  await w.report(execution_id, 'PAUSED', {
    generation: 1,
    events: [event('TASK_PAUSED', { source_id: 'pause_1' })],
  })
  await resume(client, execution_id, '7')
  await w.lease()
  await w.claim(execution_id)
  await w.report(execution_id, 'RUNNING', {
    generation: 2,
    events: [event('TASK_COMPLETED', { source_id: 'other' })],
  })
  expect(await w.release(execution_id, 2)).toMatchObject({ state: 'RESUMING', claim_generation: 3 })
  const [again] = (await w.lease()).leases
  expect(again).toMatchObject({ resumed: true })
  await w.claim(execution_id)
  await w.report(execution_id, 'RUNNING', {
    generation: 4,
    events: [event('TASK_COMPLETED', { source_id: 'pause_1' })],
  })
  expect(await w.release(execution_id, 4)).toMatchObject({ state: 'SCHEDULED' })
})

test('cancel: CANCELLED at once if unclaimed, else when the worker confirms', async () => {
  const { client } = await setup()
  const queued = await run(client)
  const cancelled = await cancel(client, queued.execution_id)
  expect(cancelled.state).toBe('CANCELLED')
  expect(types(cancelled.log)).toEqual(['WORKFLOW_CANCELLING', 'WORKFLOW_CANCELLED'])
  await expect(cancel(client, queued.execution_id)).rejects.toMatchObject({
    kind: 'invalid',
    message: 'Cannot cancel a finished execution.',
  })

  const w = worker(client)
  const leased = await run(client)
  await w.lease()
  expect(await cancel(client, leased.execution_id)).toMatchObject({ state: 'CANCELLED' })
  await expect(w.claim(leased.execution_id)).rejects.toMatchObject({ kind: 'conflict' })

  const claimed = await run(client)
  await w.lease()
  await w.claim(claimed.execution_id)
  expect(await cancel(client, claimed.execution_id)).toMatchObject({ state: 'CANCELLING' })
  const twice = await cancel(client, claimed.execution_id)
  expect(twice).toMatchObject({ state: 'CANCELLING' })
  expect(types(twice.log).filter((type) => type === 'WORKFLOW_CANCELLING')).toHaveLength(1)
  expect(await w.report(claimed.execution_id, 'CANCELLED', { generation: 1 })).toMatchObject({
    state: 'CANCELLED',
  })
})

test('a cancel without an answer: CANCELLED at its deadline, with a new fencing token', async () => {
  const { client } = await setup({ env: { SVC_EXECUTIONS__CANCEL_TIMEOUT: '0.2' } })
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  await cancel(client, execution_id)
  await w.report(execution_id, 'RUNNING', { generation: 1 })
  await expect
    .poll(() => get(client, execution_id))
    .toMatchObject({ state: 'CANCELLED', claim_generation: 2 })
  await expect(
    w.report(execution_id, 'COMPLETED', { generation: 1, events: [event('WORKFLOW_COMPLETED')] }),
  ).rejects.toMatchObject({ kind: 'conflict', message: expect.stringContaining('stale-claim') })
})

test('an unclaimed lease: goes to another worker, with a new fencing token', async () => {
  const { client } = await setup({ env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '0.2' } })
  const { execution_id } = await run(client)
  const deaf = worker(client)
  await deaf.lease()
  await expect
    .poll(() => get(client, execution_id))
    .toMatchObject({ state: 'SCHEDULED', worker_name: '', claim_generation: 2 })
  const { requirements } = await client.listReady({ known_ids: [] })
  const requirement_ids = requirements.map(({ requirement_id }) => requirement_id)
  const other = worker(client)
  const offers = [deaf, other].map(({ worker_name }) => ({
    worker_name,
    session_id: 's',
    connection_generation: 1,
    capacity: 0,
    requirement_ids,
    facts: {},
    used: 0,
  }))
  const { leases } = await client.lease({ limit: 5, offers })
  expect(leases.map(({ execution }) => execution?.worker_name)).toEqual([other.worker_name])
})

test('workers die repeatedly at one point: FAILED with the reason', async () => {
  const { client } = await setup({ env: { SVC_EXECUTIONS__MAX_ATTEMPTS: '3' } })
  const { execution_id } = await run(client)
  for (let generation = 1; generation <= 3; generation++) {
    const w = worker(client)
    const [lease] = (await w.lease()).leases
    expect(lease?.execution?.execution_id).toBe(execution_id)
    await w.claim(execution_id)
    await client.requeue({ worker_name: w.worker_name, connection_generation: 1, died: true })
  }
  const ended = await get(client, execution_id)
  expect(ended.state).toBe('FAILED')
  expect(JSON.parse(ended.output_json ?? '')).toMatchObject({
    type: 'WorkerLost',
    message: expect.stringContaining('3 workers or processes died'),
  })
})

test('a worker releases an execution as crashed: counts as an attempt, and the next claim shows it', async () => {
  const { client } = await setup({ env: { SVC_EXECUTIONS__MAX_ATTEMPTS: '3' } })
  const { execution_id } = await run(client)
  for (let attempts = 1; attempts <= 3; attempts++) {
    const w = worker(client)
    await w.lease()
    const { claim_generation, ...claimed } = await w.claim(execution_id)
    expect(claimed.attempts).toBe(attempts)
    const { state } = await w.release(execution_id, claim_generation, false, true)
    expect(state).toBe(attempts < 3 ? 'SCHEDULED' : 'FAILED')
  }
})

test('a completed task: resets the count of worker deaths; a release: not counted', async () => {
  const { client } = await setup({ env: { SVC_EXECUTIONS__MAX_ATTEMPTS: '2' } })
  const { execution_id } = await run(client)
  let generation = 0
  const turn = async (died: boolean, completes: boolean) => {
    const w = worker(client)
    await w.lease()
    const claimed = await w.claim(execution_id)
    generation = claimed.claim_generation
    if (completes)
      await w.report(execution_id, 'RUNNING', { generation, events: [event('TASK_COMPLETED')] })
    if (died) await client.requeue({ worker_name: w.worker_name, connection_generation: 1, died })
    else await w.release(execution_id, generation)
  }
  await turn(true, false)
  await turn(true, true)
  await turn(false, false)
  await turn(false, false)
  expect(await get(client, execution_id)).toMatchObject({ state: 'SCHEDULED' })
  await turn(true, false)
  expect(await get(client, execution_id)).toMatchObject({ state: 'FAILED' })
})
