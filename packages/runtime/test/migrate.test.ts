import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { emptyDatabase, query } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { migrate } from '../src/postgres/migrate.ts'

const WAIT = { timeout: 60_000, interval: 20 }

/** A database with the table `made.t`, and a folder for more migrations. */
async function setup() {
  const url = await emptyDatabase()
  const folder = temporaryFolder('migrations')
  const add = (name: string, text: string) => writeFileSync(join(folder, name), text)
  add('0001_table.sql', 'create table t (n int); insert into t values (1), (1);')
  const run = () => migrate(url, 'made', pathToFileURL(`${folder}/`))
  await run()
  return { url, add, run }
}

/** A connection in an open transaction that has read the table. */
async function longReader(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  await client.query('select count(*) from made.t')
  return client
}

const validIndexes = async (url: string) =>
  (
    await query<{ name: string }>(
      url,
      `select indexrelid::regclass::text as name from pg_index
        where indrelid = 'made.t'::regclass and indisvalid order by 1`,
    )
  ).map(({ name }) => name)

test('a table in use by a long transaction: the migration waits, later queries do not', async () => {
  const { url, add, run } = await setup()
  const reader = await longReader(url)
  add('0002_column.sql', 'alter table t add column m int;')
  const migrating = run()
  const waiting = `select from pg_locks where not granted and relation = 'made.t'::regclass`
  await vi.waitFor(async () => expect(await query(url, waiting)).toHaveLength(1), WAIT)
  // Behind a migration that waits for the long transaction this would be cancelled.
  const bounded = `${url}?options=${encodeURIComponent('-c statement_timeout=20s')}`
  await query(bounded, 'insert into made.t values (2)')
  await reader.query('commit')
  expect(await migrating).toEqual(['0002_column.sql'])
  expect(await query(url, 'select n, m from made.t where n = 2')).toEqual([{ n: 2, m: null }])
})

test('statements that each commit: replicas that race build the index once', async () => {
  const { url, add, run } = await setup()
  add('0002_index.sql', '-- each statement commits\ncreate index concurrently t_n on t (n);\n')
  const runs = await Promise.all([run(), run(), run()])
  expect(runs.flat()).toEqual(['0002_index.sql'])
  expect(await validIndexes(url)).toEqual(['made.t_n'])
})

test('statements that each commit, after a failed build: built again, and only what is missing', async () => {
  const { url, add, run } = await setup()
  const text = `-- each statement commits
-- Rows are alike.
create index concurrently t_n on t (n);
create unique index concurrently t_once on t (n);
drop index concurrently if exists t_n;
`
  add('0002_index.sql', text)
  await expect(run()).rejects.toThrow('0002_index.sql')
  expect(await validIndexes(url)).toEqual(['made.t_n'])
  const oid = "select 'made.t_n'::regclass::oid as oid"
  const built = await query(url, oid)
  await expect(run()).rejects.toThrow('0002_index.sql')
  expect(await query(url, oid)).toEqual(built)
  await query(url, 'delete from made.t where ctid in (select max(ctid) from made.t)')
  expect(await run()).toEqual(['0002_index.sql'])
  expect(await validIndexes(url)).toEqual(['made.t_once'])
  expect(await run()).toEqual([])
})
