import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { emptyDatabase } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { recoveringPostgres } from '@windlass/testkit/recovering-postgres'
import { expect, test } from 'vitest'
import { migrate } from '../src/postgres/migrate.ts'

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
