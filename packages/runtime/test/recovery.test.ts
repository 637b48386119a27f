import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { emptyDatabase } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { recoveringPostgres } from '@windlass/testkit/recovering-postgres'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openDb } from '../src/postgres/db.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { sql } from '../src/postgres/sql.ts'
import { readAtStart } from '../src/postgres/wait-for-postgres.ts'

test('PostgreSQL recovers: migrations wait for it', async () => {
  const folder = temporaryFolder('migrations')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, '001_first.sql'), 'create table first (n int);')
  const postgres = await recoveringPostgres(await emptyDatabase())
  const migrating = migrate(postgres.url, 'public', pathToFileURL(`${folder}/`))
  migrating.catch(() => {})
  await expect.poll(() => postgres.refused).toBeGreaterThan(1)
  postgres.recover()
  expect(await migrating).toEqual(['001_first.sql'])
})

test('a wrong database: migrations fail at once', async () => {
  const url = new URL(await emptyDatabase())
  url.pathname = '/no-such-database'
  const folder = pathToFileURL(`${temporaryFolder('migrations')}/`)
  await expect(migrate(url.href, 'public', folder)).rejects.toThrow('does not exist')
})

test('PostgreSQL recovers: a service that reads at its start waits for it', async () => {
  const postgres = await recoveringPostgres(await emptyDatabase())
  const db = openDb(postgres.url, 'public')
  onTestFinished(() => db.close())
  const reading = readAtStart(pino({ level: 'silent' }), () => db.rows(sql`select 1 as one`))
  reading.catch(() => {})
  await expect.poll(() => postgres.refused).toBeGreaterThan(1)
  postgres.recover()
  expect(await reading).toEqual([{ one: 1 }])
})

test('a wrong statement at the start: fails at once', async () => {
  const db = openDb(await emptyDatabase(), 'public')
  onTestFinished(() => db.close())
  const log = pino({ level: 'silent' })
  await expect(readAtStart(log, () => db.rows(sql`select * from missing`))).rejects.toThrow(
    'missing',
  )
})
