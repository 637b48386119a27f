import { newId } from '@windlass/runtime/ids'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, onTestFinished, test, vi } from 'vitest'
import { deleteRemains } from '../src/loops/retention.ts'
import { readAll } from '../src/store/log.ts'
import * as store from '../src/store/partition-rows.ts'
import {
  clientsOf,
  create,
  event,
  get,
  keepActive,
  setup,
  submit,
  worker,
} from './executions-fixture.ts'
import {
  addPartitions,
  drop,
  entriesOf,
  openPartitions,
  partitionRules,
  tablesOf,
} from './log-partitions-fixture.ts'
import { idsIn, readEnds, seed, sweep, withExecutions } from './retention-fixture.ts'

const own = { workflow_namespace: 'default', workflow_name: 'own' }
const general = { workflow_namespace: 'default', workflow_name: 'report' }
const filter = { state: '', workflow_namespace: '', workflow_name: '', visible: undefined }

/** An ended execution in partition 1, which has not been used for `unusedDays`. */
async function withUnused(unusedDays: number, ...rows: Parameters<typeof seed>[1]) {
  const { db } = await withExecutions()
  await addPartitions(db, 110, unusedDays)
  const ids = await seed(
    db,
    rows.map((row) => ({ log_part: 1, ...row })),
  )
  await readEnds(db)
  return { db, ids }
}

test('two replicas at once: the first partition is created once, ahead of its use; then always one ahead', async () => {
  const { db } = await withExecutions()
  let now = 0
  const replicas = [openPartitions(db, () => now), openPartitions(db, () => now)] as const
  const refresh = () => Promise.all(replicas.map((one) => one.refresh()))
  await refresh()
  expect(await tablesOf(db)).toEqual(['events_0', 'events_1'])
  expect(replicas.map((one) => one.partOf(general))).toEqual([0, 0])
  await db.run(sql`update log_partitions set starts_at = now()`)
  await refresh()
  await refresh()
  expect(await tablesOf(db)).toEqual(['events_0', 'events_1', 'events_2'])
  expect(replicas.map((one) => one.partOf(general))).toEqual([1, 1])
  const [, next] = await store.list(db)
  expect(Math.round((next?.starts_in_ms ?? 0) / 3_600_000)).toBe(90)
  expect(replicas[0].partOf(own)).toBe(0)
  now += 61_000
  expect(replicas[0].partOf(general)).toBe(0)
})

test('a partition in use: an execution with a derived id has its log there and reads it; an own age has not', async () => {
  const { ports, db, another } = await setup({ env: { SVC_RETENTION__ENABLED: 'true' } })
  await addPartitions(db, 1)
  const replica = await another()
  const client = clientsOf([replica.ports.grpc ?? 0, ...ports])
  onTestFinished(() => client.close())
  const direct = clientsOf([replica.ports.grpc ?? 0])
  onTestFinished(() => direct.close())
  // SHA-256 of a tick: no time in it.
  const id = () => `f${newId().slice(1, 12)}8${newId().slice(13)}`
  let execution_id = ''
  await vi.waitFor(
    async () => {
      execution_id = id()
      await submit(direct, create({}, execution_id))
      const row = await db.maybe<{ log_part: number }>(
        sql`select log_part from executions where execution_id = ${execution_id}`,
      )
      expect(row?.log_part).toBe(1)
    },
    { timeout: 30_000, interval: 100 },
  )
  const one = worker(direct)
  await one.lease({ limit: 100 })
  await one.claim(execution_id)
  const repeated = event('WORKFLOW_STARTED')
  await one.report(execution_id, 'RUNNING', { events: [repeated] })
  await one.report(execution_id, 'RUNNING', { events: [repeated, event('TASK_STARTED')] })
  // A replica of an earlier release writes to the partition that it knows.
  await db.run(sql`
    insert into events (execution_id, seq, event_id, type, source_id, name, value, time)
    values (${execution_id}, 50, 'e', 'TASK_COMPLETED', '', '', '1', '')`)
  const { last_seq } = await get(direct, execution_id)
  expect(await entriesOf(db, execution_id)).toEqual({ 0: 1, 1: last_seq })
  const log = await direct.log({ execution_id, after_seq: 0, limit: 100 })
  expect(log.entries.map(({ seq }) => seq)).toEqual([
    ...Array.from({ length: last_seq }, (_, i) => i + 1),
  ])
  expect(await readAll(db, [execution_id])).toHaveLength(last_seq + 1)
})

test('deleted executions: their entries stay unread until the partition is dropped; totals agree at each moment', async () => {
  const { client, db } = await setup()
  await addPartitions(db, 110, 32)
  const ids = await seed(db, [{ log_part: 1 }, { log_part: 1, days: 20 }, { log_part: 0 }])
  await db.run(sql`
    update executions set created_at = now() - interval '40 days' where execution_id = ${ids[1]}`)
  await readEnds(db)
  await sweep(db)
  const total = async () => (await client.list({ ...filter, limit: 10, offset: 0 })).total
  expect(await total()).toBe(1)
  expect(await entriesOf(db, ids[0])).toEqual({ 1: 2 })
  expect(await entriesOf(db, ids[2])).toEqual({})
  await expect(
    client.log({ execution_id: ids[0] ?? '', after_seq: 0, limit: 10 }),
  ).rejects.toThrow()
  await drop(db)
  expect(await tablesOf(db)).toContain('events_1')
  await sweep(db, { retention_days: 10 })
  expect(await total()).toBe(0)
  await Promise.all([drop(db), drop(db)])
  expect(await tablesOf(db)).toEqual(['events_0', 'events_2'])
  expect(await store.list(db)).toHaveLength(1)
})

test('executions that are left when the age has passed: an unfinished one and one that is kept move first, in parts', async () => {
  const { db, ids } = await withUnused(
    40,
    { state: 'SCHEDULED', events: 45_000 },
    { workflow: 'default/kept' },
    {},
  )
  await sweep(db, { workflows: { 'default/kept': 0 } })
  await drop(db)
  expect(await tablesOf(db)).toEqual(['events_0', 'events_2'])
  expect(await idsIn(db, 'executions')).toEqual(new Set(ids.slice(0, 2)))
  expect(await entriesOf(db, ids[0])).toEqual({ 0: 45_000 })
  expect(await entriesOf(db, ids[1])).toEqual({ 0: 2 })
  const rows = await db.rows(sql`select distinct log_part, revision from executions`)
  expect(rows).toEqual([{ log_part: 0, revision: 1 }])
})

test('an unfinished execution in a partition that is not late: neither moved nor dropped', async () => {
  const { db, ids } = await withUnused(32, { state: 'SCHEDULED' })
  await drop(db)
  expect(await entriesOf(db, ids[0])).toEqual({ 1: 2 })
})

test('a locked row in a late partition: the partition stays until the next sweep', async () => {
  const { db, ids } = await withUnused(40, { state: 'SCHEDULED' })
  await db.tx(async (tx) => {
    await tx.run(sql`select from executions where execution_id = ${ids[0]} for update`)
    const stop = keepActive(tx)
    await drop(db)
    stop()
    expect(await tablesOf(db)).toContain('events_1')
  })
  await drop(db)
  expect(await entriesOf(db, ids[0])).toEqual({ 0: 2 })
})

test('a statement that holds the log: the drop waits 100 ms at a time, and others pass it meanwhile', async () => {
  const { db, ids } = await withUnused(40)
  let dropping: Promise<void> | undefined
  await db.tx(async (tx) => {
    await tx.rows(sql`select from events limit 1`)
    await expect(store.drop(db, 1)).rejects.toMatchObject({ code: '55P03' })
    dropping = drop(db)
    const [id] = await seed(db, [{ log_part: 2, days: 0 }])
    expect(await entriesOf(db, id)).toEqual({ 2: 2 })
    expect(await tablesOf(db)).toContain('events_1')
  })
  await dropping
  expect(ids).toEqual([])
  expect(await tablesOf(db)).toEqual(['events_0', 'events_2'])
})

test('an id that is used again after its execution was deleted: its log has the new entries only', async () => {
  const { db, ids } = await withUnused(35, {})
  await sweep(db)
  expect(await entriesOf(db, ids[0])).toEqual({ 1: 2 })
  const [execution_id = ''] = ids
  await seed(db, [{ execution_id, log_part: 2, days: 0, events: 1 }])
  expect(await readAll(db, [execution_id])).toMatchObject([{ seq: 1, type: 'WORKFLOW_COMPLETED' }])
  await drop(db)
  expect(await entriesOf(db, execution_id)).toEqual({ 2: 1 })
})

test('a partition that is still used: entries of deleted executions are deleted with them, and it is not dropped', async () => {
  const { db } = await withExecutions()
  await addPartitions(db, 110)
  const [id] = await seed(db, [{ log_part: 1 }])
  await readEnds(db)
  await sweep(db)
  expect(await entriesOf(db, id)).toEqual({})
  expect(await store.drop(db, 1)).toBe(false)
  await addPartitions(db, 0)
  expect(await store.drop(db, 1)).toBe(false)
})

test('turned off while there are partitions: none is used or created, and the old ones are dropped', async () => {
  const { db, ids } = await withUnused(35, {})
  const off = { ...partitionRules, log_partitions: 0 }
  const replica = openPartitions(db, () => 0, off)
  await replica.refresh()
  expect(replica.count).toBe(2)
  expect(replica.partOf(general)).toBe(0)
  await sweep(db)
  await drop(db, off)
  expect(await tablesOf(db)).toEqual(['events_0', 'events_2'])
  expect(await entriesOf(db, ids[0])).toEqual({})
})

test('a log that is too large for one transaction, in a partition: deleted in parts', async () => {
  const { db, ids } = await withUnused(35, { events: 45_000 })
  await sweep(db)
  while (await deleteRemains(db));
  expect(await entriesOf(db, ids[0])).toEqual({})
})
