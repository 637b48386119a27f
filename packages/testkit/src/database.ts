import { createHmac, randomBytes } from 'node:crypto'
import { type Db, openDb } from '@windlass/runtime/postgres/db'
import { migrate } from '@windlass/runtime/postgres/migrate'
import pg from 'pg'
import { type Defer, withTest } from './defer.ts'
import { templateDatabase } from './template-database.ts'

/** Creates a migrated database for one test, dropped when the test ends. Returns its URL. */
export async function freshDatabase(schema: string, migrations: URL): Promise<string> {
  const server = testUrl('TEST_POSTGRES_URL')
  const fill = (database: string) => migrate(database, schema, migrations)
  return createDatabase({ template: await templateDatabase(server, [migrations], fill) })
}

const STATEMENT_HANG_MS = 120_000

/** Opens a database for the statements of one test, which may insert many rows on a slow machine. */
export function openTestDb(url: string, schema: string): Db {
  const db = openDb(url, schema, { statementMs: STATEMENT_HANG_MS })
  withTest(() => db.close())
  return db
}

/** Creates a database for several services, each schema with its migrations and its role. Returns its URL. */
export async function freshSystemDatabase(root: URL, defer: Defer): Promise<string> {
  const folders = STORES.map((store) => migrationsOf(store, root))
  const fill = (database: string) => migrateAll(database, root)
  const template = await templateDatabase(testUrl('TEST_POSTGRES_URL'), folders, fill)
  return createDatabase({ template, defer })
}

/** Brings the schemas of all services to those of a checkout. */
export async function migrateAll(database: string, root: URL): Promise<void> {
  for (const store of STORES)
    await migrate(database, store, migrationsOf(store, root), serviceUrl(database, store))
}

const STORES = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler']

const migrationsOf = (store: string, root: URL) => new URL(`services/${store}/migrations/`, root)

/** Creates an empty database, dropped at the end; at the server of the test run unless `at` names another. */
export const emptyDatabase = (defer: Defer = withTest, at?: string): Promise<string> =>
  createDatabase({ defer, at })

interface NewDatabase {
  defer?: Defer
  /** URL of the server; by default that of the test run. */
  at?: string | undefined
  /** Database to copy. */
  template?: string
}

async function createDatabase({
  defer = withTest,
  at,
  template,
}: NewDatabase = {}): Promise<string> {
  const server = new URL(at ?? testUrl('TEST_POSTGRES_URL'))
  const name = `test_${randomBytes(8).toString('hex')}`
  await admin(server, `create database ${name}${template ? ` template ${template}` : ''}`)
  defer(() => admin(server, `drop database if exists ${name} with (force)`))
  const url = new URL(server)
  url.pathname = name
  return url.href
}

/** Returns the URL with which a service has access to its own schema only. */
export const serviceUrl = (database: string, service: string): string =>
  userUrl(database, service, `windlass_${service}`)

function userUrl(url: string, service: string, username = service): string {
  const known = new URL(url)
  const password = createHmac('sha256', known.password).update(service).digest('hex').slice(0, 32)
  return Object.assign(known, { username, password }).href
}

/** Returns a service's URL for NATS or Redis; the shared one if the store has no users per service. */
export const storeUrl = (url: string, service: string): string =>
  process.env.TEST_SERVICE_USERS && URL.canParse(url) && new URL(url).password
    ? userUrl(url, service)
    : url

/** Dumps all rows of a database as text, one line each: what an attacker with a copy would see. */
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

/** Returns the URL of a store that the test set-up provides. */
export function testUrl(name: 'TEST_POSTGRES_URL' | 'TEST_NATS_URL' | 'TEST_REDIS_URL'): string {
  const url = process.env[name]
  if (!url) throw new Error(`${name} is unset: run the tests with npm test`)
  return url
}

const admin = (server: URL, statement: string) => query(server.href, statement)

/** Runs one statement on its own connection. Returns the rows. */
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
