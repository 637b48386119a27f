import { createHmac, randomBytes } from 'node:crypto'
import { migrate } from '@windlass/runtime/postgres/migrate'
import pg from 'pg'
import { type Defer, withTest } from './defer.ts'

/** An empty, migrated database of its own for one test; dropped when the test ends. Answers its URL. */
export async function freshDatabase(schema: string, migrations: URL): Promise<string> {
  const url = await emptyDatabase()
  await migrate(url, schema, migrations)
  return url
}

/** An empty database for systems of several services. Answers its URL. */
export async function emptyDatabase(defer: Defer = withTest, at?: string): Promise<string> {
  const server = new URL(at ?? testUrl('TEST_POSTGRES_URL'))
  const name = `test_${randomBytes(8).toString('hex')}`
  await admin(server, `create database ${name}`)
  defer(() => admin(server, `drop database if exists ${name} with (force)`))
  const url = new URL(server)
  url.pathname = name
  return url.href
}

/** The URL with which a service reaches its own schema in a test database and nothing else. */
export const serviceUrl = (database: string, service: string): string =>
  userUrl(database, service, `windlass_${service}`)

function userUrl(url: string, service: string, username = service): string {
  const known = new URL(url)
  const password = createHmac('sha256', known.password).update(service).digest('hex').slice(0, 32)
  return Object.assign(known, { username, password }).href
}

/** The URL of a service at NATS or Redis; that of all where none is known there by a name of its own. */
export const storeUrl = (url: string, service: string): string =>
  process.env.TEST_SERVICE_USERS && new URL(url).password ? userUrl(url, service) : url

/** All columns of all rows in a database, as text, a line each: what somebody sees who gets hold of it. */
export async function dumpDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables = await client.query<{ name: string }>(`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`)
    let lines = ''
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ line: string }>(`select t::text as line from ${name} t`)
      lines += rows.map(({ line }) => `${name} ${line}\n`).join('')
    }
    return lines
  } finally {
    await client.end()
  }
}

/** The URL of a part that the test set-up provides. */
export function testUrl(name: 'TEST_POSTGRES_URL' | 'TEST_NATS_URL' | 'TEST_REDIS_URL'): string {
  const url = process.env[name]
  if (!url) throw new Error(`${name} is unset: run the tests with npm test`)
  return url
}

const admin = (server: URL, statement: string) => query(server.href, statement)

/** Runs one statement on a connection of its own; answers its rows. */
export async function query<Row extends pg.QueryResultRow>(
  url: string,
  statement: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows
  } finally {
    await client.end()
  }
}
