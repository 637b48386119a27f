import { Sql, sql } from '@windlass/runtime/postgres/sql'
import { describe, expect, test } from 'vitest'
import { cancel, event, get, resume, run, setup, worker } from './executions-fixture.ts'

const HANG_MS = 60_000
const bounded = { packages: [], affinity: {}, runner: '', queue_timeout: 0.3 }

describe('queue_timeout', () => {
  test('queued for longer: FAILED with the reason', async () => {
    const { client } = await setup()
    const { execution_id } = await run(client, { requirement: bounded })
    await expect
      .poll(() => get(client, execution_id), { timeout: HANG_MS })
      .toMatchObject({ state: 'FAILED', worker_name: '' })
    const { execution, entries } = await client.log({ execution_id, after_seq: 0, limit: 0 })
    expect(JSON.parse(execution?.output_json ?? '')).toEqual({
      type: 'QueueTimeout',
      message: 'no worker took it within its queue_timeout of 0.3 s',
    })
    expect(entries.map(({ type }) => type)).toEqual(['WORKFLOW_FAILED'])
    await expect(cancel(client, execution_id)).rejects.toMatchObject({ kind: 'invalid' })
  })

  test('a lease: clears the deadline; a requeue: sets a new one', async () => {
    const { client, db } = await setup()
    const { execution_id } = await run(client, { requirement: { ...bounded, queue_timeout: 60 } })
    const left = async () =>
      (
        await db.maybe<{ seconds: number }>(sql`
          select extract(epoch from deadline_at - clock_timestamp())::float8 as seconds
            from executions where execution_id = ${execution_id}`)
      )?.seconds
    expect(await left()).toBeGreaterThan(50)
    const w = worker(client)
    await w.lease()
    expect(await left()).toBeLessThan(11)
    await w.claim(execution_id)
    expect(await left()).toBeUndefined()
    await w.release(execution_id, 1)
    expect(await left()).toBeGreaterThan(50)
    await w.lease()
    await w.claim(execution_id)
    await w.report(execution_id, 'PAUSED', { generation: 3, events: [event('WORKFLOW_PAUSED')] })
    expect(await left()).toBeUndefined()
    await resume(client, execution_id, 'null')
    expect(await left()).toBeGreaterThan(50)
  })

  test('a resume: bounded by the queue_timeout of its workflow', async () => {
    const { client } = await setup()
    const { execution_id } = await run(client, { requirement: bounded })
    const w = worker(client)
    await w.lease()
    await w.claim(execution_id)
    await w.report(execution_id, 'PAUSED', { generation: 1 })
    await resume(client, execution_id, '1')
    await expect
      .poll(() => get(client, execution_id), { timeout: HANG_MS })
      .toMatchObject({ state: 'FAILED' })
  })
})

test.each([
  ['RUNNING without a holder', "state = 'RUNNING', queued_at = null"],
  ['CLAIMED without a holder', "state = 'CLAIMED', queued_at = null"],
  ['CANCELLING without a holder', "state = 'CANCELLING', queued_at = null, deadline_at = now()"],
  ['a lease without a deadline', "held_by = 'w', queued_at = null"],
  [
    'a leased resume without a deadline',
    "state = 'RESUME_SCHEDULED', held_by = 'w', queued_at = null",
  ],
  ['a cancel without a deadline', "state = 'CANCELLING', held_by = 'w', queued_at = null"],
  ['a bounded wait without a deadline', 'queue_timeout_ms = 1'],
  ['SCHEDULED without a holder or queue time', 'queued_at = null'],
  ['RESUMING without a queue time', "state = 'RESUMING', queued_at = null"],
  ['PAUSED with a holder', "state = 'PAUSED', held_by = 'w', queued_at = null"],
  ['a terminal state without finished_at', "state = 'COMPLETED', queued_at = null"],
  ['finished_at without a terminal state', 'finished_at = now()'],
  ['an unknown state', "state = 'STUCK'"],
])('%s: rejected by the database', async (_, change) => {
  const { client, db } = await setup()
  const { execution_id } = await run(client)
  const text = `update executions set ${change} where execution_id = '${execution_id}'`
  await expect(db.run(new Sql([text], []))).rejects.toMatchObject({ code: '23514' })
})

describe('a claim whose answer is to be confirmed', () => {
  const claimed = async (claimTimeoutS: number, awaitsConfirmation = true) => {
    const { client, db } = await setup({
      env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: String(claimTimeoutS) },
    })
    const { execution_id } = await run(client)
    const w = worker(client)
    await w.lease()
    await w.claim(execution_id, awaitsConfirmation)
    const hasDeadline = async () =>
      (
        await db.maybe<{ has: boolean }>(sql`
          select deadline_at is not null as has from executions where execution_id = ${execution_id}`)
      )?.has
    return { client, w, execution_id, hasDeadline }
  }

  test.each(['a run', 'a resume'])(
    '%s, unconfirmed: back to the queue after claim_timeout, without counting the attempt',
    async (what) => {
      const { client, db } = await setup({ env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '0.3' } })
      const { execution_id } = await run(client)
      const w = worker(client)
      await w.lease()
      let generation = 1
      if (what === 'a resume') {
        await w.claim(execution_id)
        await w.report(execution_id, 'PAUSED', { generation })
        await resume(client, execution_id, '7')
        await w.lease()
        generation = 2
      }
      await w.claim(execution_id, true)
      await expect
        .poll(() => get(client, execution_id), { timeout: HANG_MS })
        .toMatchObject({ worker_name: '', claim_generation: generation + 1 })
      const state = what === 'a resume' ? 'RESUMING' : 'SCHEDULED'
      expect(await get(client, execution_id)).toMatchObject({ state })
      expect(
        await db.maybe(sql`select attempts from executions where execution_id = ${execution_id}`),
      ).toEqual({ attempts: 0 })
      await expect(w.confirmClaim(execution_id, generation)).rejects.toMatchObject({
        kind: 'conflict',
      })
    },
  )

  test('confirmed, or followed by a checkpoint: without a deadline', async () => {
    const confirmed = await claimed(60)
    expect(await confirmed.hasDeadline()).toBe(true)
    await confirmed.w.confirmClaim(confirmed.execution_id, 1, 9)
    expect(await confirmed.hasDeadline()).toBe(true)
    await confirmed.w.confirmClaim(confirmed.execution_id, 1)
    expect(await confirmed.hasDeadline()).toBe(false)
    const working = await claimed(60)
    await working.w.report(working.execution_id, 'RUNNING', { generation: 1 })
    expect(await working.hasDeadline()).toBe(false)
    await working.w.confirmClaim(working.execution_id, 1, 9)
    expect(await working.hasDeadline()).toBe(false)
  })

  test('repeated: the deadline starts again; the cancel keeps its own', async () => {
    const { client, w, execution_id, hasDeadline } = await claimed(60)
    await w.confirmClaim(execution_id, 1)
    await w.claim(execution_id, true)
    expect(await hasDeadline()).toBe(true)
    await cancel(client, execution_id)
    await w.confirmClaim(execution_id, 1)
    expect(await hasDeadline()).toBe(true)
  })

  test('from a gateway that does not confirm: without a deadline', async () => {
    const { hasDeadline } = await claimed(60, false)
    expect(await hasDeadline()).toBe(false)
  })
})

describe('the sweeper', () => {
  const QUICK = { env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '0.2' } }

  test('a locked row: delays neither the sweep nor commands for other rows', async () => {
    const { client, db } = await setup({ ...QUICK, replicas: 2 })
    const executions = await Promise.all(Array.from({ length: 40 }, () => run(client)))
    const ids = executions.map(({ execution_id }) => execution_id)
    const [locked = '', ...others] = ids
    const w = worker(client)
    await w.lease({ limit: 40 })
    await db.tx(async (tx) => {
      await tx.rows(sql`select 1 from executions where execution_id = ${locked} for update`)
      await expect
        .poll(async () => (await client.get({ execution_ids: others })).executions, {
          timeout: HANG_MS / 2,
        })
        .toSatisfy((rows: { claim_generation: number }[]) =>
          rows.every(({ claim_generation }) => claim_generation === 2),
        )
      const startedAt = performance.now()
      await Promise.all(others.map((id) => cancel(client, id)))
      expect(performance.now() - startedAt).toBeLessThan(HANG_MS / 4)
      expect(await get(client, locked)).toMatchObject({ claim_generation: 1 })
    })
    await expect
      .poll(() => get(client, locked), { timeout: HANG_MS })
      .toMatchObject({ claim_generation: 2 })
  })

  test('rows that cannot be written: the sweep continues behind them', async () => {
    const { client, db } = await setup(QUICK)
    const poisoned = await run(client, { workflow_name: 'poison' })
    const w = worker(client)
    await w.lease()
    await db.run(sql`
      create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'this row cannot be written'; end $$`)
    await db.run(sql`
      insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
        workflow_version, requirement_id, state, held_by, input, deadline_at)
      select gen_random_uuid(), workflow_id, workflow_namespace, workflow_name, workflow_version,
             requirement_id, 'SCHEDULED', 'w', '1', clock_timestamp() - interval '1 hour'
        from executions, generate_series(1, 600)
       where execution_id = ${poisoned.execution_id}`)
    await db.run(sql`
      create trigger poison before update on executions for each row
        when (old.workflow_name = 'poison') execute function refuse()`)
    const healthy = await run(client)
    await w.lease()
    await expect
      .poll(() => get(client, healthy.execution_id), { timeout: HANG_MS })
      .toMatchObject({ claim_generation: 2, worker_name: '' })
    expect((await get(client, poisoned.execution_id)).claim_generation).toBe(1)
  })
})
