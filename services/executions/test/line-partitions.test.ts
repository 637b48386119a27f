import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { deleteRemains } from '../src/loops/retention.ts'
import { insertLines, readPage, readTotals } from '../src/store/line-rows.ts'
import * as store from '../src/store/partition-rows.ts'
import { keepActive } from './executions-fixture.ts'
import { addPartitions, drop, openPartitions, tablesOf } from './log-partitions-fixture.ts'
import { readEnds, seed, sweep, withExecutions } from './retention-fixture.ts'

const line = (execution_id: string, seq: number, message = `line ${seq}`) => ({
  ...{ execution_id, seq, task_id: '', task_name: '', level: 20, logger: 'stdout', message },
  ...{ time: 'now', line_count: seq, byte_count: seq * 10 },
})

/** Lines of a claim, as they are appended. */
const append = (db: Db, id: string, ...seqs: number[]) =>
  insertLines(
    db,
    1,
    seqs.map((seq) => line(id, seq)),
  )

/** The statement of the previous release, which knows no partitions. */
const appendEarlier = (db: Db, id: string, ...seqs: number[]) =>
  db.run(sql`
    insert into captured_lines
    select ${id}::uuid, n, '', '', 20, 'stdout', 'line ' || n, 'now', n, n * 10
      from unnest(${seqs}::int[]) as n`)

const hold = (db: Db, id: string) =>
  db.run(sql`
    update executions set state = 'RUNNING', claim_generation = 1, held_by = 'w', worker_name = 'w',
           queued_at = null
     where execution_id = ${id}`)

/** Numbers of the stored lines by partition. */
async function linesOf(db: Db, id = ''): Promise<Record<number, number[]>> {
  const rows = await db.rows<{ part: number; seqs: number[] }>(sql`
    select part, array_agg(seq::int order by seq) as seqs from captured_lines
     where execution_id = ${id} group by part order by part`)
  return Object.fromEntries(rows.map(({ part, seqs }) => [part, seqs]))
}

const read = async (db: Db, execution_id: string, limit = 10) => {
  const lines = await readPage(db, { execution_id, after: 0, limit, min_level: 0 })
  return lines.map(({ seq }) => seq)
}

/** Ended executions with three lines each in partition 1, which has not been used for `unusedDays`. */
async function withLines(unusedDays: number, ...rows: Parameters<typeof seed>[1]) {
  const { db } = await withExecutions()
  await addPartitions(db, 110, unusedDays)
  const ids = await seed(
    db,
    rows.map((row) => ({ log_part: 1, ...row })),
  )
  for (const id of ids)
    await db.run(sql`
      insert into captured_lines
      select ${id}::uuid, n, '', '', 20, 'stdout', 'line ' || n, 'now', n, n * 10, 1
        from generate_series(1, 3) as n`)
  await readEnds(db)
  return { db, ids, first: ids[0] ?? '' }
}

test('partitions of the log: one of the lines is created ahead with each, and dropped with it', async () => {
  const { db } = await withLines(35, {})
  expect(await tablesOf(db, 'captured_lines')).toEqual([0, 1, 2].map((n) => `captured_lines_${n}`))
  await openPartitions(db, () => 0).refresh()
  expect(await tablesOf(db, 'captured_lines')).toContain('captured_lines_3')
  await sweep(db)
  await drop(db)
  expect(await tablesOf(db, 'captured_lines')).toEqual([0, 2, 3].map((n) => `captured_lines_${n}`))
  expect(await tablesOf(db)).toEqual(['events_0', 'events_2', 'events_3'])
})

test('lines of an execution: stored in the partition of its log; those of earlier releases are read too, each once', async () => {
  const { db } = await withExecutions()
  await addPartitions(db, 1)
  const [id = '', other = ''] = await seed(db, [
    { state: 'SCHEDULED', log_part: 1, days: 0 },
    { state: 'SCHEDULED', days: 0 },
  ])
  for (const one of [id, other]) await hold(db, one)
  await append(db, id, 1, 2)
  await append(db, id, 2, 3)
  await append(db, other, 1)
  await appendEarlier(db, id, 3, 4)
  expect(await linesOf(db, id)).toEqual({ 0: [3, 4], 1: [1, 2, 3] })
  expect(await linesOf(db, other)).toEqual({ 0: [1] })
  expect(await read(db, id)).toEqual([1, 2, 3, 4])
  expect(await readTotals(db, id)).toEqual({ line_count: 4, byte_count: 40 })
})

test('deleted executions: their lines are not deleted by row, and no longer read', async () => {
  const { db, ids, first } = await withLines(35, {}, { log_part: 0 })
  await appendEarlier(db, first, 4)
  await sweep(db)
  expect(await linesOf(db, first)).toEqual({ 1: [1, 2, 3] })
  expect(await linesOf(db, ids[1])).toEqual({ 1: [1, 2, 3] })
  // The id is used again.
  await seed(db, [{ execution_id: first, log_part: 2, days: 0 }])
  expect(await read(db, first)).toEqual([])
  expect(await readTotals(db, first)).toEqual({ line_count: 0, byte_count: 0 })
})

test('a partition that is still used: lines of deleted executions are deleted with them', async () => {
  const { db } = await withExecutions()
  await addPartitions(db, 110)
  const [id = ''] = await seed(db, [{ log_part: 1, state: 'SCHEDULED' }])
  await hold(db, id)
  await append(db, id, 1)
  await db.run(sql`
    update executions set state = 'COMPLETED', held_by = null, queued_at = null,
           finished_at = clock_timestamp() - interval '40 days'`)
  await db.run(sql`insert into totals_delta values ('default', 'report', 'COMPLETED', 1)`)
  await readEnds(db)
  expect(await linesOf(db, id)).toEqual({ 1: [1] })
  await sweep(db)
  expect(await linesOf(db, id)).toEqual({})
})

test('lines with an age of their own: deleted by row in any partition', async () => {
  const { db, first } = await withLines(2, { days: 20 })
  await sweep(db, { log_days: 10 })
  expect(await linesOf(db, first)).toEqual({})
})

test('many lines in a partition: counted with the log, and deleted in parts', async () => {
  const { db, first } = await withLines(35, {})
  await db.run(sql`update captured_lines set line_count = 30000 where seq = 3`)
  await sweep(db)
  const rows = await db.rows(sql`select has_log from deleted_executions`)
  expect(rows).toEqual([{ has_log: true }])
  while (await deleteRemains(db));
  expect(await linesOf(db, first)).toEqual({})
})

test('executions that are left in a late partition: their lines move to partition 0 with the log', async () => {
  const { db, first } = await withLines(40, { state: 'SCHEDULED' })
  await appendEarlier(db, first, 3, 4)
  await drop(db)
  expect(await tablesOf(db, 'captured_lines')).toEqual(['captured_lines_0', 'captured_lines_2'])
  expect(await linesOf(db, first)).toEqual({ 0: [1, 2, 3, 4] })
  expect(await read(db, first)).toEqual([1, 2, 3, 4])
})

test('more lines than move at once: move in parts of that size, and are all read in between', async () => {
  const { db, first } = await withLines(40, { state: 'SCHEDULED' })
  const LIMIT = 10
  const all = Array.from({ length: 25 }, (_, i) => i + 1)
  await hold(db, first)
  await append(db, first, ...all.slice(3))
  await appendEarlier(db, first, 3, 4)
  const left: number[] = [all.length]
  for (let moved: number | undefined = LIMIT; moved === LIMIT; ) {
    moved = await db.tx((tx) => store.moveLog(tx, first, LIMIT))
    left.push((await linesOf(db, first))[1]?.length ?? 0)
    expect(await read(db, first, all.length)).toEqual(all)
    expect(await readTotals(db, first)).toEqual({ line_count: 25, byte_count: 250 })
  }
  const parts = left.slice(1).map((count, i) => (left[i] ?? 0) - count)
  expect(Math.max(...parts)).toBeLessThanOrEqual(LIMIT)
  expect(await linesOf(db, first)).toEqual({ 0: all })
  expect(await db.rows(sql`select log_part from executions`)).toEqual([{ log_part: 0 }])
})

test('lines that are appended between two parts of a move: move with the last part', async () => {
  const { db, first } = await withLines(40, { state: 'SCHEDULED' })
  await hold(db, first)
  const move = () => db.tx((tx) => store.moveLog(tx, first, 2))
  while ((await linesOf(db, first))[0] === undefined) await move()
  expect(await linesOf(db, first)).toMatchObject({ 1: expect.anything() })
  // One of them for the second time.
  await append(db, first, 4, 1)
  while ((await move()) === 2);
  expect(await linesOf(db, first)).toEqual({ 0: [1, 2, 3, 4] })
})

test('lines that are appended while their log moves: neither lost nor left behind', async () => {
  const { db, first } = await withLines(40, { state: 'SCHEDULED' })
  await hold(db, first)
  let appended: Promise<unknown> | undefined
  await db.tx(async (tx) => {
    await store.moveLog(tx, first, 100)
    appended = append(db, first, 4)
    await expect.poll(() => waiting(db)).toBe(1)
  })
  await appended
  expect(await linesOf(db, first)).toEqual({ 0: [1, 2, 3, 4] })
})

test('a log whose lines are being appended: does not move meanwhile, and its partition stays', async () => {
  const { db, first } = await withLines(40, { state: 'SCHEDULED' })
  await hold(db, first)
  await db.tx(async (tx) => {
    await insertLines(tx, 1, [line(first, 4)])
    const stop = keepActive(tx)
    await drop(db)
    stop()
    expect(await tablesOf(db)).toContain('events_1')
  })
  await drop(db)
  expect(await linesOf(db, first)).toEqual({ 0: [1, 2, 3, 4] })
})

/** Number of sessions that wait for a lock. */
async function waiting(db: Db): Promise<number> {
  const row = await db.maybe<{ count: number }>(sql`
    select count(*)::int as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`)
  return row?.count ?? 0
}
