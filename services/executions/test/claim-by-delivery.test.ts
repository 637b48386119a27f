import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { WaitingDispatchers } from '../src/engine/waiters.ts'
import { createExecutionWriter } from '../src/engine/writer.ts'
import { expireOverdue } from '../src/loops/sweep.ts'
import { limits } from './execution-samples.ts'
import {
  type Client,
  cancel,
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
const HANG_MS = 120_000

/** One execution that is leased to a worker which claims by delivery. */
async function deliveredLease(env: Record<string, string> = {}) {
  const { client, db } = await setup({ env })
  const w = worker(client)
  const { execution_id } = await run(client)
  const {
    leases: [lease],
  } = await w.lease({ claims_by_delivery: true })
  return { client, db, w, execution_id, lease }
}

const logOf = async (client: Client, execution_id: string) =>
  (await client.log({ execution_id, after_seq: 0, limit: 0 })).entries

const typesOf = async (client: Client, execution_id: string) =>
  (await logOf(client, execution_id)).map(({ type }) => type)

/** Moves the deadlines into the past; the sweepers of all replicas act on them within a second. */
const expire = (db: Db, ids: readonly string[]) =>
  db.run(sql`
    update executions set deadline_at = clock_timestamp() - interval '1 s'
     where execution_id = any(${ids}::uuid[])`)

test('a delivered lease: names its deadline, and the first checkpoint ends it', async () => {
  const { client, db, w, execution_id, lease } = await deliveredLease()
  expect(lease).toMatchObject({ claim_ms: 10_000, execution: { claim_generation: 1, attempts: 1 } })
  const mine = event('TASK_STARTED')
  const report = { generation: 1, events: [mine] }
  expect(await w.report(execution_id, 'RUNNING', report)).toMatchObject({ state: 'RUNNING' })
  const [first, second, third] = await logOf(client, execution_id)
  expect([first?.type, second?.type]).toEqual(['WORKFLOW_SCHEDULED', 'WORKFLOW_CLAIMED'])
  expect(third?.event_id).toBe(mine.event_id)
  const [row] = await db.rows<{ deadline_at?: Date }>(sql`
    select deadline_at from executions where execution_id = ${execution_id}`)
  expect(row?.deadline_at).toBeUndefined()
})

test('a first checkpoint that ends the execution: one commit with claim and end', async () => {
  const { client, w, execution_id } = await deliveredLease()
  const end = { generation: 1, events: [event('WORKFLOW_COMPLETED', { value_json: '7' })] }
  const ended = await w.report(execution_id, 'COMPLETED', end)
  expect(ended).toMatchObject({ state: 'COMPLETED', output_json: '7' })
  expect(await typesOf(client, execution_id)).toEqual([
    'WORKFLOW_SCHEDULED',
    'WORKFLOW_CLAIMED',
    'WORKFLOW_COMPLETED',
  ])
  // Its answer may have been lost, and its frame may come twice.
  expect(await w.report(execution_id, 'COMPLETED', end)).toMatchObject({ state: 'COMPLETED' })
  await expect(w.report(execution_id, 'RUNNING', { generation: 1 })).rejects.toThrow('stale-claim')
  await expect(w.claim(execution_id)).rejects.toThrow()
})

test('C9: a repeated first checkpoint: accepted, and its events are stored once', async () => {
  const { client, w, execution_id } = await deliveredLease()
  const report = { generation: 1, events: [event('TASK_STARTED')] }
  await Promise.all([1, 2, 3].map(() => w.report(execution_id, 'RUNNING', report)))
  expect(await typesOf(client, execution_id)).toEqual([
    'WORKFLOW_SCHEDULED',
    'WORKFLOW_CLAIMED',
    'TASK_STARTED',
  ])
})

test('C1, C7: a claim and a first checkpoint at once: both accepted, one claim in the log', async () => {
  const { client, w, execution_id } = await deliveredLease()
  const report = { generation: 1, events: [event('TASK_STARTED')] }
  await Promise.all([w.claim(execution_id, true), w.report(execution_id, 'RUNNING', report)])
  expect(await get(client, execution_id)).toMatchObject({ state: 'RUNNING', attempts: 1 })
  const types = await typesOf(client, execution_id)
  expect(types.filter((type) => type === 'WORKFLOW_CLAIMED')).toHaveLength(1)
})

test('a resume: claimed by the first checkpoint like a start', async () => {
  const { client, w, execution_id } = await deliveredLease()
  await w.report(execution_id, 'PAUSED', { generation: 1 })
  await resume(client, execution_id, '{"go":1}')
  const {
    leases: [lease],
  } = await w.lease({ claims_by_delivery: true })
  expect(lease).toMatchObject({ resumed: true, claim_ms: 10_000 })
  await w.report(execution_id, 'RUNNING', { generation: 2, events: [event('TASK_STARTED')] })
  expect((await typesOf(client, execution_id)).slice(-4)).toEqual([
    'WORKFLOW_RESUMING',
    'WORKFLOW_RESUME_SCHEDULED',
    'WORKFLOW_RESUME_CLAIMED',
    'TASK_STARTED',
  ])
})

test('C2, C3, C9: a lease whose first checkpoint is late: another worker claims, the late one is refused', async () => {
  const { client, db, w, execution_id } = await deliveredLease()
  await expire(db, [execution_id])
  await expect.poll(() => get(client, execution_id)).toMatchObject({ worker_name: '', attempts: 0 })
  const late = { generation: 1, events: [event('TASK_COMPLETED')] }
  await expect(w.report(execution_id, 'RUNNING', late)).rejects.toThrow('stale-claim')
  const other = worker(client)
  const { leases } = await other.lease({ claims_by_delivery: true })
  expect(leases.map(({ claim_ms }) => claim_ms)).toEqual([undefined])
  await expect(w.report(execution_id, 'RUNNING', late)).rejects.toThrow('stale-claim')
  await other.claim(execution_id)
  await expect(w.report(execution_id, 'RUNNING', late)).rejects.toThrow('stale-claim')
  expect(await typesOf(client, execution_id)).not.toContain('TASK_COMPLETED')
  expect(await get(client, execution_id)).toMatchObject({ state: 'CLAIMED', attempts: 1 })
})

test('D6: workers that die before the first checkpoint: given up after max_attempts', async () => {
  const { client, w, execution_id } = await deliveredLease({ SVC_EXECUTIONS__MAX_ATTEMPTS: '3' })
  const die = () =>
    client.requeue({ worker_name: w.worker_name, connection_generation: 1, died: true })
  await die()
  expect(await get(client, execution_id)).toMatchObject({ state: 'SCHEDULED', attempts: 1 })
  for (const attempts of [2, 3]) {
    const { leases } = await w.lease({ claims_by_delivery: true })
    expect(leases.map(({ claim_ms }) => claim_ms)).toEqual([undefined])
    await w.claim(execution_id)
    expect(await get(client, execution_id)).toMatchObject({ attempts })
    await die()
  }
  expect(await get(client, execution_id)).toMatchObject({ state: 'FAILED' })
})

test('E6, E7: a cancel before the first checkpoint: its worker confirms, or the claim deadline ends it', async () => {
  const { client, db, w, execution_id } = await deliveredLease()
  expect(await cancel(client, execution_id)).toMatchObject({ state: 'CANCELLING' })
  const { execution_id: silent } = await run(client)
  await w.lease({ claims_by_delivery: true })
  await cancel(client, silent)
  const confirmed = await w.report(execution_id, 'CANCELLED', { generation: 1 })
  expect(confirmed).toMatchObject({ state: 'CANCELLED' })
  await expire(db, [silent])
  await expect.poll(() => get(client, silent)).toMatchObject({ state: 'CANCELLED' })
})

/** Leases that expire while their first checkpoints arrive. */
async function race(client: Client, db: Db, sweep: () => Promise<void>) {
  const w = worker(client)
  await Promise.all(Array.from({ length: AT_ONCE }, () => run(client)))
  const { leases } = await w.lease({ limit: AT_ONCE, claims_by_delivery: true })
  const ids = leases.map(({ execution }) => execution?.execution_id ?? '')
  await expire(db, ids)
  const sweeping = sweep()
  const report = { generation: 1, events: [event('TASK_STARTED')] }
  const reports = await Promise.allSettled(ids.map((id) => w.report(id, 'RUNNING', report)))
  await sweeping
  return ids.map((execution_id, i) => ({ w, execution_id, report: reports[i] }))
}

type Raced = Awaited<ReturnType<typeof race>>[number]

async function expectClaimed(client: Client, { w, execution_id }: Raced) {
  const holder = { state: 'RUNNING', worker_name: w.worker_name, attempts: 1, claim_generation: 1 }
  expect(await get(client, execution_id)).toMatchObject(holder)
  expect(await typesOf(client, execution_id)).toEqual([
    'WORKFLOW_SCHEDULED',
    'WORKFLOW_CLAIMED',
    'TASK_STARTED',
  ])
}

async function expectExpired(client: Client, { execution_id, report }: Raced) {
  expect(String(report?.status === 'rejected' && report.reason)).toContain('stale-claim')
  const free = { state: 'SCHEDULED', worker_name: '', attempts: 0, claim_generation: 2 }
  expect(await get(client, execution_id)).toMatchObject(free)
  expect(await typesOf(client, execution_id)).toEqual(['WORKFLOW_SCHEDULED'])
}

test('C1, C3, C9: expiry races the first checkpoint: one wins, and the log agrees', {
  timeout: HANG_MS,
}, async () => {
  const { client, db } = await setup({ replicas: 2 })
  // The sweeper of one more replica, which can be started at will.
  const waiters = new WaitingDispatchers()
  const writer = createExecutionWriter({ db, limits, waiters, onCommit: () => {} })
  const log = { error: (found: unknown) => expect.unreachable(String(found)) }
  let claimed = 0
  let played = 0
  for (; played < ROUNDS; played += AT_ONCE)
    for (const raced of await race(client, db, () => expireOverdue(db, writer, log as never))) {
      const isClaimed = raced.report?.status === 'fulfilled'
      await (isClaimed ? expectClaimed : expectExpired)(client, raced)
      await cancel(client, raced.execution_id)
      if (isClaimed) claimed++
    }
  console.info(`expiry against first checkpoint: ${claimed} of ${played} claimed`)
})
