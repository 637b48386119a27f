import { newId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test, vi } from 'vitest'
import { deleteRemains } from '../src/loops/retention.ts'
import { cancel, create, keepActive, run, setup, submit } from './executions-fixture.ts'
import {
  idsIn,
  readEnds,
  seed,
  sweep,
  waitForOlderTransactions,
  withExecutions,
} from './retention-fixture.ts'

const ROUNDS = 6
const EACH_ROUND = 200

const filter = { state: '', workflow_namespace: '', workflow_name: '', visible: undefined }

/** A service without retention, with these executions. */
async function withService(...rows: Parameters<typeof seed>[1]) {
  const service = await setup()
  const ids = await seed(service.db, rows)
  await readEnds(service.db)
  return { ...service, ids }
}

const expectKept = async (db: Db, ids: readonly (string | undefined)[]) =>
  expect([...(await idsIn(db, 'executions'))].sort()).toEqual([...ids].sort())

test('older than its age: deleted with log and approvals; young and unfinished ones stay, totals agree', async () => {
  const { client, db, ids } = await withService(
    { days: 31 },
    { days: 29 },
    { days: 31, state: 'SCHEDULED' },
    { days: 40, state: 'FAILED' },
  )
  await db.run(sql`
    insert into approvals (approval_id, execution_id, task_call_id, task_name, status, decided_at)
    select gen_random_uuid(), execution_id, 'c', 't', 'approved', now() from executions`)
  await sweep(db)
  const kept = [ids[1], ids[2]]
  await expectKept(db, kept)
  expect(await idsIn(db, 'events')).toEqual(new Set(kept))
  expect(await idsIn(db, 'approvals')).toEqual(new Set(kept))
  for (const [state, total] of Object.entries({ '': 2, COMPLETED: 1, SCHEDULED: 1, FAILED: 0 })) {
    const listed = await client.list({ ...filter, state, limit: 10, offset: 0 })
    expect([listed.total, listed.executions.length]).toEqual([total, total])
  }
})

test('ages by namespace and by workflow, in batches of one: each workflow by its own age', async () => {
  const { db, ids } = await withExecutions(
    ...['prod/a', 'prod/b', 'test/a', 'other/a', 'test/a'].map((workflow) => ({
      workflow,
      days: 10,
    })),
  )
  await sweep(db, {
    retention_days: 20,
    namespaces: { prod: 5, test: 0.5 },
    workflows: { 'prod/b': 0 },
    batch_size: 1,
  })
  await expectKept(db, [ids[1], ids[3]])
})

test('a maximum, swept by three replicas at once: exactly the oldest are deleted', async () => {
  const rows = Array.from({ length: 20 }, (_, i) => ({ days: 20 - i, workflow: `n${i % 3}/w` }))
  const { db, ids } = await withExecutions(...rows, { state: 'SCHEDULED' })
  await sweep(db, { max_executions: 7, batch_size: 3 }, { replicas: 3 })
  // A replica that finds another one at work leaves the rest to it, or to its own next sweep.
  await sweep(db, { max_executions: 7, batch_size: 3 })
  await expectKept(db, ids.slice(13))
})

test('an end that is not published yet: kept until it is', async () => {
  const { db } = await withExecutions({ days: 50 })
  const [before, unread, after] = await seed(db, [{ days: 40 }, { days: 40 }, { days: 35 }])
  for (const name of ['wake', 'executions']) {
    await readEnds(db)
    // Behind the first: its end is not the last one that was read.
    await db.run(sql`
      update relay_cursor set xid = e.xid, execution_id = e.execution_id, seq = e.seq
        from events e where e.execution_id = ${before} and e.seq = 2 and relay_cursor.name = ${name}`)
    await sweep(db)
    await expectKept(db, [before, unread, after])
  }
  await readEnds(db)
  await sweep(db)
  await expectKept(db, [])
})

test('a nested run: kept until its parent has ended', async () => {
  const [parent_id, other] = [newId(), newId()]
  const { db, client } = await setup()
  await submit(client, create({}, parent_id))
  const [known, unknown] = await seed(db, [{ depth: 1, parent_id }, { depth: 1 }, { depth: 0 }])
  // It began before the one whose parent is unknown.
  await db.run(sql`
    update executions set created_at = now() - interval '200 days' where execution_id = ${parent_id}`)
  const [grandchild] = await seed(db, [{ depth: 2, parent_id: other }])
  await readEnds(db)
  await sweep(db)
  expect(grandchild).toBeDefined()
  await expectKept(db, [parent_id, known, unknown])
  await cancel(client, parent_id)
  await readEnds(db)
  await sweep(db)
  await expectKept(db, [parent_id])
})

test('an execution that another one waits for: kept until that one is woken', async () => {
  const { db, ids } = await withExecutions({}, {})
  await db.run(sql`insert into wake_conditions values (${ids[0]}, ${newId()}, 1)`)
  await sweep(db)
  await expectKept(db, [ids[0]])
})

test('logs with an age of their own: only the last event stays, the execution and its total too', async () => {
  const { db, ids, client } = await withService({ days: 20, events: 5 }, { days: 5 })
  await db.run(sql`
    insert into captured_lines
    select execution_id, 1, '', '', 20, 'stdout', 'x', 'now', 1, 1 from executions`)
  await sweep(db, { log_days: 10 })
  const log = await client.log({ execution_id: ids[0] ?? '', after_seq: 0, limit: 10 })
  expect(log.entries.map(({ type, seq }) => [type, seq])).toEqual([['WORKFLOW_COMPLETED', 5]])
  expect(log.execution).toMatchObject({ state: 'COMPLETED', input_json: '1' })
  const young = await client.log({ execution_id: ids[1] ?? '', after_seq: 0, limit: 10 })
  expect(young.entries).toHaveLength(2)
  expect(await idsIn(db, 'captured_lines')).toEqual(new Set([ids[1]]))
  expect((await client.list({ ...filter, limit: 10, offset: 0 })).total).toBe(2)
})

test('a log that is too large for one transaction: deleted in parts after its execution', async () => {
  const { db, ids } = await withExecutions({ events: 45_000 }, {})
  await db.run(sql`
    insert into captured_lines
    select ${ids[0]}, n, '', '', 20, 'stdout', 'x', 'now', n, n from generate_series(1, 30000) as n`)
  await sweep(db)
  await expectKept(db, [])
  expect(await idsIn(db, 'events')).toEqual(new Set([ids[0]]))
  let rounds = 0
  while (await deleteRemains(db)) rounds++
  expect(rounds).toBe(4)
  expect(await idsIn(db, 'events')).toEqual(new Set())
  expect(await idsIn(db, 'captured_lines')).toEqual(new Set())
})

test('an idempotency key whose execution was deleted: refused for 24 hours, and nothing runs again', async () => {
  const { client, db } = await setup()
  const key_id = newId()
  const { execution_id } = await client.reserveKey({ key_id, execution_id: '' })
  await submit(client, create({ request_hash: 'a' }, execution_id))
  await cancel(client, execution_id)
  await readEnds(db)
  await sweep(db, { retention_days: 1e-9 })
  await expectKept(db, [])
  const again = client.reserveKey({ key_id, execution_id: '' })
  await expect(again).rejects.toMatchObject({ kind: 'conflict' })
  await deleteRemains(db)
  await expect(client.reserveKey({ key_id, execution_id: '' })).rejects.toThrow('use another key')
  await db.run(sql`update deleted_executions set refused_until = now()`)
  await db.run(sql`update idempotency_keys set expires_at = now()`)
  while (await deleteRemains(db));
  expect(await db.rows(sql`select from deleted_executions`)).toHaveLength(0)
  const { execution_id: next } = await client.reserveKey({ key_id, execution_id: '' })
  expect(next).not.toBe(execution_id)
})

test('approvals with an age of their own: decided ones of finished executions are deleted', async () => {
  const { db, ids } = await withExecutions(
    { days: 1 },
    { days: 1, state: 'SCHEDULED' },
    { days: 1 },
  )
  await db.run(sql`
    insert into approvals (approval_id, execution_id, task_call_id, task_name, status, decided_at)
    select gen_random_uuid(), execution_id, 'c', 't', 'rejected', now() - interval '8 days'
      from executions`)
  await db.run(sql`
    update approvals set decided_at = now() where execution_id = ${ids[2]}`)
  await sweep(db, { approval_days: 7, batch_size: 1 })
  expect(await idsIn(db, 'approvals')).toEqual(new Set([ids[1], ids[2]]))
})

test('a locked row: passed over without waiting, and deleted by the next sweep', async () => {
  const { db, ids } = await withExecutions({}, {}, {})
  await db.tx(async (tx) => {
    await tx.run(sql`select from executions where execution_id = ${ids[1]} for update`)
    const stop = keepActive(tx)
    await sweep(db)
    stop()
    await expectKept(db, [ids[1]])
  })
  await sweep(db)
  await expectKept(db, [])
})

test('enabled: the service deletes what has ended', { timeout: 60_000 }, async () => {
  const { client, db } = await setup({
    env: {
      SVC_RETENTION__ENABLED: 'true',
      SVC_RETENTION__RETENTION_DAYS: '0.00001',
      SVC_RETENTION__SWEEP_INTERVAL: '0.2',
    },
  })
  const { execution_id } = await run(client)
  const { execution_id: alive } = await run(client)
  await cancel(client, execution_id)
  await vi.waitFor(() => expectKept(db, [alive]), { timeout: 40_000, interval: 100 })
})

test('as many deleted as written, round after round: tables and indexes do not grow', {
  timeout: 600_000,
}, async () => {
  const { db } = await withExecutions()
  const sizes: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    await seed(
      db,
      Array.from({ length: EACH_ROUND }, () => ({ events: 6 })),
    )
    await readEnds(db)
    await sweep(db)
    await expectKept(db, [])
    await waitForOlderTransactions(db)
    // Autovacuum does it otherwise, some time later.
    for (const table of [sql`executions`, sql`events`]) await db.run(sql`vacuum ${table}`)
    const [size] = await db.rows<{ bytes: number }>(sql`
      select pg_total_relation_size('executions') + pg_total_relation_size('events_0') as bytes`)
    sizes.push(size?.bytes ?? 0)
  }
  const [first = 0] = sizes.slice(ROUNDS / 2)
  // Without the deletion they would be twice as large.
  expect(sizes.at(-1), sizes.join(', ')).toBeLessThan(1.2 * first)
})
