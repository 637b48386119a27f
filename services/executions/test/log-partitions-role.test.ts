import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Db, openDb } from '@windlass/runtime/postgres/db'
import { migrate } from '@windlass/runtime/postgres/migrate'
import { sql } from '@windlass/runtime/postgres/sql'
import { emptyDatabase, serviceUrl } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
import { readTotals } from '../src/store/line-rows.ts'
import * as store from '../src/store/partition-rows.ts'
import { addPartitions, drop, entriesOf, tablesOf } from './log-partitions-fixture.ts'
import { seed } from './retention-fixture.ts'

const MIGRATIONS = new URL('../migrations/', import.meta.url)

test('the role of a service: creates and drops partitions, and can change no table otherwise', async () => {
  const url = await emptyDatabase()
  await migrate(url, 'executions', MIGRATIONS, serviceUrl(url, 'executions'))
  const db = openDb(serviceUrl(url, 'executions'), 'executions')
  onTestFinished(() => db.close())
  await addPartitions(db, 90)
  await store.create(db, { length_s: 86_400, notice_s: 0 })
  await db.run(sql`update log_partitions set starts_at = now() - interval '60 days' where part = 2`)
  const [id] = await seed(db, [{ log_part: 1 }])
  expect(await entriesOf(db, id)).toEqual({ 1: 2 })
  await expect(db.run(sql`drop table events_1`)).rejects.toThrow('must be owner')
  await expect(db.run(sql`create table executions.mine (a int)`)).rejects.toThrow('permission')
  await db.run(sql`delete from executions`)
  await drop(db)
  expect(await tablesOf(db)).toEqual(['events_0', 'events_2'])
  expect(await tablesOf(db, 'captured_lines')).toEqual(['captured_lines_0', 'captured_lines_2'])
})

/** A database with the migrations before this one; `rest` runs the others, which do not grant again what the role may do. */
async function migratedUntil(name: string) {
  const url = await emptyDatabase()
  const folder = temporaryFolder('migrations')
  const names = readdirSync(MIGRATIONS).sort()
  const until = names.indexOf(name)
  const run = async (some: string[], ...role: string[]) => {
    for (const one of some) copyFileSync(join(fileURLToPath(MIGRATIONS), one), join(folder, one))
    await migrate(url, 'executions', pathToFileURL(`${folder}/`), ...role)
  }
  await run(names.slice(0, until), serviceUrl(url, 'executions'))
  const db = openDb(serviceUrl(url, 'executions'), 'executions')
  onTestFinished(() => db.close())
  return { db, rest: () => run(names.slice(until)) }
}

test('the role of a service when its log becomes a partition: keeps its rights before they are granted again', async () => {
  const { db, rest } = await migratedUntil('0029_partitioned_log.sql')
  await rest()
  const [id] = await seed(db, [{}])
  expect(await entriesOf(db, id)).toEqual({ 0: 2 })
})

test('lines that become a partition while replicas of the previous release run: each statement of theirs works, each partition of the log has one of the lines', async () => {
  const { db, rest } = await migratedUntil('0030_line_part.sql')
  await addPartitions(db, 110, 40)
  const [id = '', late = ''] = await seed(db, [{}, { log_part: 1, state: 'SCHEDULED' }])
  const lines = await served(db, late, async () => {
    let migrated: Promise<void> | undefined
    // A call that has created its partition, and ends after the migration has begun.
    await db.tx(async (tx) => {
      await tx.run(sql`select create_log_partition('1 day', '0')`)
      migrated = rest()
      await tx.rows(sql`select pg_sleep(1)`)
    })
    await migrated
  })
  expect(await tablesOf(db, 'captured_lines')).toEqual(
    [0, 1, 2, 3].map((n) => `captured_lines_${n}`),
  )
  await drop(db)
  expect(await tablesOf(db, 'captured_lines')).toEqual([0, 2, 3].map((n) => `captured_lines_${n}`))
  expect(await readTotals(db, late)).toMatchObject({ line_count: lines })
  expect(await entriesOf(db, late)).toEqual({ 0: 2 })
  await appendAsBefore(db, id, 1)
  expect(await readTotals(db, id)).toMatchObject({ line_count: 1 })
})

/** The statement of the previous release. */
const appendAsBefore = (db: Db, id: string, n: number) =>
  db.run(sql`
    insert into captured_lines
    select l.* from (values (${id}::uuid, ${n}::bigint, '', '', 20::smallint, '', 'x', 'now', ${n}::int, 1::bigint)) as l
      join executions e on e.execution_id = l.column1
    on conflict do nothing`)

/** Appends and reads lines until `work` has ended; returns their number. */
async function served(db: Db, id: string, work: () => Promise<void>): Promise<number> {
  let isOver = false
  const serving = (async () => {
    let n = 0
    while (!isOver) {
      await appendAsBefore(db, id, ++n)
      const rows = await db.rows(sql`
        select seq from captured_lines where execution_id = ${id} order by seq desc limit 1`)
      expect(rows).toMatchObject([{ seq: n }])
    }
    return n
  })()
  await work().finally(() => {
    isOver = true
  })
  return serving
}
