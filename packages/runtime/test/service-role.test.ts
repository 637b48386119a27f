import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { emptyDatabase, serviceUrl } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openDb } from '../src/postgres/db.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { warnOfSharedRole } from '../src/postgres/service-role.ts'
import { Sql, sql } from '../src/postgres/sql.ts'

/** A database with the schemas `identity` and `catalog`, each with a role, and connections of identity's. */
async function setup() {
  const database = await emptyDatabase()
  const folder = temporaryFolder('migrations')
  await writeFile(
    join(folder, '0001.sql'),
    'create table things (id bigserial primary key, name text)',
  )
  const migrations = pathToFileURL(`${folder}/`)
  for (const schema of ['identity', 'catalog'])
    await migrate(database, schema, migrations, serviceUrl(database, schema))
  const connect = (url: string) => {
    const db = openDb(url, 'identity')
    onTestFinished(() => db.close())
    return db
  }
  return { database, migrations, connect, own: connect(serviceUrl(database, 'identity')) }
}

const raw = (text: string) => new Sql([text], [])

test.each([
  ['reads the schema of another', 'select * from catalog.things'],
  ['writes there', "insert into catalog.things (name) values ('x')"],
  ['reads a file of the server', "select pg_read_file('postgresql.conf')"],
  ['runs a program there', "copy things from program 'id'"],
  ['reads the passwords', 'select * from pg_authid'],
  ['makes a role', 'create role more_rights superuser'],
  ['makes itself a superuser', 'alter role windlass_identity superuser'],
  ['takes the role of another', 'set role windlass_catalog'],
  ['changes its own schema', 'alter table things add column more text'],
  ['forgets what was migrated', 'delete from migrations'],
  ['makes a table', 'create table more (id int)'],
])('N157: a service that %s is refused', async (_, text) => {
  const { own } = await setup()
  await expect(own.run(raw(text))).rejects.toMatchObject({ code: '42501' })
})

test('a service role: reads and writes its own schema, and keeps its password after another migration', async () => {
  const { database, migrations, own } = await setup()
  await own.run(sql`insert into things (name) values ('x')`)
  await own.run(sql`update things set name = 'y'`)
  await Promise.all(
    [1, 2, 3].map(() =>
      migrate(database, 'identity', migrations, serviceUrl(database, 'identity')),
    ),
  )
  expect(await own.rows(sql`select name from things`)).toEqual([{ name: 'y' }])
  expect(await own.run(sql`delete from things`)).toBe(1)
})

test('a role with another password: gets the configured one', async () => {
  const { database, migrations, connect } = await setup()
  const name = `windlass_test_${randomBytes(4).toString('hex')}`
  const urlOf = (password: string) =>
    Object.assign(new URL(database), { username: name, password }).href
  await migrate(database, 'identity', migrations, urlOf('old'))
  await migrate(database, 'identity', migrations, urlOf('new'))
  onTestFinished(async () => {
    const admin = openDb(database, 'identity')
    await admin.run(raw(`drop owned by ${name}`))
    await admin.run(raw(`drop role ${name}`))
    await admin.close()
  })
  expect(await connect(urlOf('new')).rows(sql`select name from things`)).toEqual([])
  await expect(connect(urlOf('old')).rows(sql`select name from things`)).rejects.toMatchObject({
    code: '28P01',
  })
})

test('one URL for service and administrator: works, with a warning in the log', async () => {
  const { database, connect, own } = await setup()
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => lines.push(line) })
  await warnOfSharedRole(own, log)
  expect(lines).toEqual([])
  await warnOfSharedRole(connect(database), log)
  expect(lines).toEqual([expect.stringContaining('"schemas":["catalog"]')])
})
