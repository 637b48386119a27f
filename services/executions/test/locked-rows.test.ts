import type { Db, Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import {
  type Client,
  cancel,
  create,
  event,
  get,
  keepActive,
  resume,
  run,
  setup,
  submit,
  worker,
} from './executions-fixture.ts'

/** Locks rows like a process that hangs in a transaction. */
const withLockedRow = (db: Db, execution_id: string, work: (tx: Tx) => Promise<void>) =>
  db.tx(async (tx) => {
    await tx.rows(sql`select from executions where execution_id = ${execution_id} for update`)
    const stopActivity = keepActive(tx)
    await work(tx).finally(stopActivity)
  })

const repeat = <T>(count: number, make: () => Promise<T>) =>
  Promise.all(Array.from({ length: count }, make))

test('D5: a locked row delays only its own callers', async () => {
  const { client, db } = await setup()
  const w = worker(client)
  const created = await repeat(12, () => run(client))
  await w.lease({ limit: 12 })
  for (const { execution_id } of created) await w.claim(execution_id)
  const [stuck = '', ...others] = created.map(({ execution_id }) => execution_id)
  const report = (id: string) =>
    w.report(id, 'RUNNING', { generation: 1, events: [event('TASK_COMPLETED')] })
  await withLockedRow(db, stuck, async () => {
    for (let round = 0; round < 3; round++) {
      const held = expect(report(stuck)).rejects.toMatchObject({ kind: 'unavailable' })
      await Promise.all([...others.map(report), held])
    }
    const paused = await Promise.all(
      others.slice(0, 4).map((id) => w.report(id, 'PAUSED', { generation: 1 })),
    )
    await Promise.all(paused.map(({ execution_id }) => resume(client, execution_id, '1')))
    await Promise.all(others.slice(4).map((id) => cancel(client, id)))
  })
  await report(stuck)
  expect(await get(client, stuck)).toMatchObject({ state: 'RUNNING', claim_generation: 1 })
})

test('D5: a locked queued execution does not keep others from being leased', async () => {
  const { client, db } = await setup()
  const [first, ...others] = await repeat(6, () => run(client))
  const w = worker(client)
  await withLockedRow(db, first?.execution_id ?? '', async () => {
    const leasedIds = new Set<string>()
    for (let round = 0; round < others.length; round++) {
      const { leases } = await w.lease({ limit: 2 })
      for (const { execution } of leases) leasedIds.add(execution?.execution_id ?? '')
    }
    expect(leasedIds).toEqual(new Set(others.map(({ execution_id }) => execution_id)))
  })
  await expect
    .poll(async () => (await w.lease()).leases.map(({ execution }) => execution?.execution_id))
    .toContain(first?.execution_id)
})

test('D5: a process hangs in a transaction: its rows are freed after some seconds', async () => {
  const { client, db } = await setup()
  const { execution_id } = await run(client)
  let hangs = true
  const hung = db.tx(async (tx) => {
    await tx.rows(sql`select from executions where execution_id = ${execution_id} for update`)
    await expect
      .poll(() => cancel(client, execution_id).then(({ state }) => state, String))
      .toBe('CANCELLED')
    hangs = false
  })
  await expect(hung).rejects.toThrow()
  expect(hangs).toBe(false)
})

test('rows changed in one batch: locked in id order, whatever their order in the table', async () => {
  const { client, db } = await setup()
  const ids = (await createClaimed(client, 100)).slice(-20)
  // A small table is scanned in its physical order: here the last id first.
  await db.run(sql`create index created on executions (created_at)`)
  await db.run(sql`cluster executions using created`)
  await db.run(sql`analyze executions`)
  const first = ids.at(-1) ?? ''
  let cancelled: ReturnType<typeof cancelTogether> | undefined
  await withLockedRow(db, first, async (tx) => {
    cancelled = cancelTogether(client, ids)
    await expect.poll(() => isWaitingForLock(db)).toBe(true)
    const rows = await tx.rows(sql`
      select from executions
       where execution_id = any(${ids}::uuid[]) and execution_id <> ${first}
         for update skip locked`)
    expect(rows).toHaveLength(ids.length - 1)
  })
  expect(await cancelled).toEqual(ids.map(() => 'CANCELLING'))
})

test('a deadlock in the database: all commands are applied', async () => {
  const { client, db } = await setup()
  const ids = await createClaimed(client, 20)
  const [last = ''] = ids
  let cancelled: ReturnType<typeof cancelTogether> | undefined
  await withLockedRow(db, last, async (tx) => {
    cancelled = cancelTogether(client, ids.toReversed())
    await expect.poll(() => isWaitingForLock(db)).toBe(true)
    await tx.rows(sql`select from executions for update`)
  })
  expect(await cancelled).toEqual(ids.map(() => 'CANCELLING'))
})

/** Ids of claimed executions, in descending order. */
async function createClaimed(client: Client, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, i) => `${1000 - i}`.padStart(32, '0'))
  for (const id of ids) await submit(client, create({}, id))
  const w = worker(client)
  await w.lease({ limit: count })
  for (const id of ids) await w.claim(id)
  return ids
}

/** Submits all commands in one call. Returns the states. */
async function cancelTogether(client: Client, ids: readonly string[]) {
  const { results } = await client.submit({
    commands: ids.map((execution_id) => ({
      execution_id,
      with_log: false,
      body: { $case: 'cancel', value: {} },
    })),
  })
  return results.map(({ body }) => (body?.$case === 'execution' ? body.value.state : body))
}

/** True if a statement waits for a lock. */
const isWaitingForLock = async (db: Db) =>
  (
    await db.rows(sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
  ).length > 0
