import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { openDb } from '@windlass/runtime/postgres/db'
import { migrate } from '@windlass/runtime/postgres/migrate'
import { sql } from '@windlass/runtime/postgres/sql'
import { emptyDatabase, serviceUrl } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, onTestFinished, test } from 'vitest'
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
})

test('the role of a service when its log becomes a partition: keeps its rights before they are granted again', async () => {
  const url = await emptyDatabase()
  const folder = temporaryFolder('migrations')
  const names = readdirSync(MIGRATIONS).sort()
  const until = names.indexOf('0029_partitioned_log.sql')
  const run = async (some: string[], ...role: string[]) => {
    for (const name of some) copyFileSync(join(fileURLToPath(MIGRATIONS), name), join(folder, name))
    await migrate(url, 'executions', pathToFileURL(`${folder}/`), ...role)
  }
  await run(names.slice(0, until), serviceUrl(url, 'executions'))
  await run(names.slice(until))
  const db = openDb(serviceUrl(url, 'executions'), 'executions')
  onTestFinished(() => db.close())
  const [id] = await seed(db, [{}])
  expect(await entriesOf(db, id)).toEqual({ 0: 2 })
})
