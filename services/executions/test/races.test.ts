import { expect, test } from 'vitest'
import {
  type Client,
  cancel,
  create,
  event,
  get,
  resume,
  run,
  setup,
  worker,
} from './executions-fixture.ts'

/** 1,000 in `npm run test:chaos`. */
const ROUNDS = Number(process.env.TEST_ROUNDS ?? 100)
const AT_ONCE = 20
const HANG_MS = 180_000

const settled = async (calls: Promise<unknown>[]) => {
  const results = await Promise.allSettled(calls)
  return {
    won: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    lost: results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])),
  }
}

test('many workers lease concurrently at two replicas: each execution goes to one', async () => {
  const { client } = await setup({ replicas: 2 })
  const ids = new Set(
    (await Promise.all(Array.from({ length: 100 }, () => run(client)))).map(
      ({ execution_id }) => execution_id,
    ),
  )
  const workers = Array.from({ length: 12 }, () => worker(client))
  const leasedIds: string[] = []
  for (let round = 0; leasedIds.length < ids.size && round < 50; round++)
    for (const { leases } of await Promise.all(workers.map((w) => w.lease({ limit: 20 }))))
      leasedIds.push(...leases.map(({ execution }) => execution?.execution_id ?? ''))
  expect(leasedIds).toHaveLength(ids.size)
  expect(new Set(leasedIds)).toEqual(ids)
})

test('concurrent leases of one worker: it never holds more than its capacity', async () => {
  const { client } = await setup({ replicas: 2 })
  await Promise.all(Array.from({ length: 60 }, () => run(client)))
  const w = worker(client)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => w.lease({ capacity: 7, limit: 20 })),
  )
  const leases = answers.flatMap((answer) => answer.leases)
  expect(leases.length).toBeLessThanOrEqual(7)
  await w.lease({ capacity: 7 })
  const { loads } = await w.lease({ capacity: 7 })
  expect(loads[0]?.used).toBe(7)
})

/** Repeats a race many times, each on another claimed execution, some concurrently. */
async function race(round: (arena: Arena) => Promise<void>): Promise<void> {
  const { client } = await setup({ replicas: 2 })
  const w = worker(client)
  for (let played = 0; played < ROUNDS; played += AT_ONCE) {
    const created = await Promise.all(Array.from({ length: AT_ONCE }, () => run(client)))
    await w.lease({ limit: AT_ONCE })
    await Promise.all(
      created.map(async ({ execution_id }) => {
        await w.claim(execution_id)
        await round({ client, w, execution_id })
      }),
    )
  }
}

interface Arena {
  client: Client
  w: ReturnType<typeof worker>
  execution_id: string
}

test('cancel races completion: exactly one wins, and the answers agree', { timeout: HANG_MS }, () =>
  race(async ({ client, w, execution_id }) => {
    const [cancelled, completed] = await Promise.allSettled([
      cancel(client, execution_id),
      w.report(execution_id, 'COMPLETED', {
        generation: 1,
        events: [event('WORKFLOW_COMPLETED')],
      }),
    ])
    expect(completed.status).toBe('fulfilled')
    expect((await get(client, execution_id)).state).toBe('COMPLETED')
    if (cancelled.status === 'rejected') expect(cancelled.reason).toMatchObject({ kind: 'invalid' })
    else expect(cancelled.value.state).toBe('CANCELLING')
  }),
)

test('resume races resume: one wins, and its body is delivered', { timeout: HANG_MS }, () =>
  race(async ({ client, w, execution_id }) => {
    await w.report(execution_id, 'PAUSED', { generation: 1 })
    const { won, lost } = await settled(
      ['1', '2', '3', '4'].map((body) => resume(client, execution_id, body).then(() => body)),
    )
    expect(won).toHaveLength(1)
    for (const reason of lost) expect(reason).toMatchObject({ kind: 'conflict' })
    const { entries } = await client.log({ execution_id, after_seq: 0, limit: 0 })
    const bodies = entries.filter(({ type }) => type === 'WORKFLOW_RESUMING')
    expect(bodies.map(({ value_json }) => value_json)).toEqual(won)
    await cancel(client, execution_id)
  }),
)

test('release races checkpoint: a refused checkpoint is not in the log', { timeout: HANG_MS }, () =>
  race(async ({ client, w, execution_id }) => {
    const mine = event('TASK_COMPLETED')
    const [reported] = await Promise.allSettled([
      w.report(execution_id, 'RUNNING', { generation: 1, events: [mine] }),
      w.release(execution_id, 1),
    ])
    const { entries } = await client.log({ execution_id, after_seq: 0, limit: 0 })
    const stored = entries.some(({ event_id }) => event_id === mine.event_id)
    expect(stored).toBe(reported.status === 'fulfilled')
    expect(await get(client, execution_id)).toMatchObject({
      state: 'SCHEDULED',
      claim_generation: 2,
    })
    await cancel(client, execution_id)
  }),
)

test('a row that cannot be stored: does not fail the others of its batch', async () => {
  const { client } = await setup()
  const w = worker(client)
  const executions = await Promise.all(Array.from({ length: 30 }, () => run(client)))
  await w.lease({ limit: 100 })
  await Promise.all(executions.map(({ execution_id }) => w.claim(execution_id)))
  const { won, lost } = await settled(
    executions.map(({ execution_id }, i) =>
      w.report(execution_id, 'RUNNING', {
        generation: 1,
        events: [event('TASK_COMPLETED', { name: i === 13 ? 'no\u0000name' : 'name' })],
      }),
    ),
  )
  expect(won).toHaveLength(29)
  expect(lost).toEqual([expect.objectContaining({ kind: 'unprocessable' })])
})

test('a command submitted together with the create: applied', async () => {
  const { client } = await setup()
  await run(client)
  const pairs = Array.from({ length: 40 }, () => create())
  const { results } = await client.submit({
    commands: pairs.flatMap((created) => [
      created,
      {
        execution_id: created.execution_id,
        with_log: false,
        body: { $case: 'cancel' as const, value: {} },
      },
    ]),
  })
  const answered = results.map(({ body }) => body?.$case === 'execution' && body.value.state)
  expect(answered).toEqual(pairs.flatMap(() => ['SCHEDULED', 'CANCELLED']))
  for (const { execution_id } of pairs) {
    expect((await get(client, execution_id)).state).toBe('CANCELLED')
    const { entries } = await client.log({ execution_id, after_seq: 0, limit: 0 })
    expect(entries.map(({ type }) => type)).toEqual(['WORKFLOW_CANCELLING', 'WORKFLOW_CANCELLED'])
  }
})

test('repeated creates race leases and deadlines at two replicas: no command is refused', async () => {
  const { client } = await setup({ replicas: 2, env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '0.05' } })
  const created = Array.from({ length: 60 }, () => create())
  await client.submit({ commands: created })
  const workers = Array.from({ length: 4 }, () => worker(client))
  const shuffled = () => [...created].sort(() => Math.random() - 0.5)
  for (let round = 0; round < 60; round++) {
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => client.submit({ commands: shuffled() })),
      ...workers.map((w) => w.lease({ limit: 30 }).then(() => ({ results: [] }))),
    ])
    for (const { results } of answers)
      for (const { body } of results) expect(body?.$case, JSON.stringify(body)).toBe('execution')
  }
})
