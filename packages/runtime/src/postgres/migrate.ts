import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { loadSettingsOrExit } from '../config/load-settings.ts'
import { grantRole } from './service-role.ts'
import { waitForPostgres } from './wait-for-postgres.ts'
import { clientFor } from './writable-host.ts'

const LOCK_MS = 60_000
/** First line of a file that was renamed after its release: the name under which databases record it. */
const RECORDED_AS = /^-- recorded as (\S+)\n/

/**
 * Runs the numbered .sql files of `folder` that `schema` has not recorded, in order, each in a
 * transaction, and returns their recorded names. Concurrent replicas wait for each other. With
 * `serviceUrl` the role of that URL may then use the schema.
 *
 * A renamed file keeps its first name in the database (RECORDED_AS): it does not run again where it
 * has run, and older releases, which look for the first name, do not run it either.
 */
export async function migrate(
  url: string,
  schema: string,
  folder: URL,
  serviceUrl?: string,
): Promise<string[]> {
  const client = await waitForPostgres(
    () => connect(url, schema),
    ({ message }) => process.stderr.write(`waiting for PostgreSQL: ${message}\n`),
  )
  try {
    await client.query(`set lock_timeout = ${LOCK_MS}`)
    await client.query('select pg_advisory_lock(hashtext($1))', [`migrate ${schema}`])
    await client.query(`create schema if not exists ${schema}`)
    await client.query(
      'create table if not exists migrations (name text primary key, run_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string }>('select name from migrations')
    const seen = new Set(rows.map(({ name }) => name))
    const migrations = (await readMigrations(folder)).filter(({ name }) => !seen.has(name))
    for (const { name, text } of migrations) await run(client, name, text)
    if (serviceUrl) await grantRole(client, schema, serviceUrl)
    return migrations.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

async function connect(url: string, schema: string): Promise<pg.Client> {
  const client = clientFor(url, { options: `-c search_path=${schema}` })
  await client.connect()
  return client
}

/** Reads the files in their order, each with the name under which databases record it. */
async function readMigrations(folder: URL): Promise<{ name: string; text: string }[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  const read = async (file: string) => {
    const text = await readFile(new URL(file, folder), 'utf8')
    return { name: RECORDED_AS.exec(text)?.[1] ?? file, text }
  }
  return Promise.all(files.map(read))
}

async function run(client: pg.Client, name: string, text: string): Promise<void> {
  await client.query('begin')
  try {
    await client.query('insert into migrations (name) values ($1)', [name])
    await client.query(text)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`migration ${name} failed`, { cause: error })
  }
}

/** Entry of each service's `migrate.ts`: migrates its schema in the configured database. */
export async function migrateMain(schema: string, folder: URL): Promise<void> {
  const settings = loadSettingsOrExit()
  const { url, admin_url } = settings.postgres
  const names = await (admin_url
    ? migrate(admin_url, schema, folder, url)
    : migrate(url, schema, folder))
  const place = fileURLToPath(folder)
  process.stdout.write(`${JSON.stringify({ msg: 'migrated', schema, names, place })}\n`)
}
