import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { loadSettings } from '../config/load-settings.ts'
import { grantRole } from './service-role.ts'

const LOCK_MS = 60_000

/**
 * Runs the numbered .sql files of `folder` that `schema` has not seen, oldest first, each in a
 * transaction of its own, and answers their names. Replicas that race wait for one another. With
 * `serviceUrl` the role of that URL may then use the schema.
 */
export async function migrate(
  url: string,
  schema: string,
  folder: URL,
  serviceUrl?: string,
): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` })
  // A lost connection rejects the running statement; without a handler its event would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(`set lock_timeout = ${LOCK_MS}`)
    await client.query('select pg_advisory_lock(hashtext($1))', [`migrate ${schema}`])
    await client.query(`create schema if not exists ${schema}`)
    await client.query(
      'create table if not exists migrations (name text primary key, run_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string }>('select name from migrations')
    const seen = new Set(rows.map(({ name }) => name))
    const fresh = (await readdir(folder))
      .filter((name) => name.endsWith('.sql') && !seen.has(name))
      .sort()
    for (const name of fresh) await run(client, name, await readFile(new URL(name, folder), 'utf8'))
    if (serviceUrl) await grantRole(client, schema, serviceUrl)
    return fresh
  } finally {
    await client.end()
  }
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
  const { postgres } = loadSettings()
  const { url, admin_url } = postgres
  const names = await (admin_url
    ? migrate(admin_url, schema, folder, url)
    : migrate(url, schema, folder))
  const place = fileURLToPath(folder)
  process.stdout.write(`${JSON.stringify({ msg: 'migrated', schema, names, place })}\n`)
}
