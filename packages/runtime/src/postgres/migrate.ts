import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { loadSettingsOrExit } from '../config/load-settings.ts'
import { readMigrations, runMigration } from './run-migration.ts'
import { grantRole } from './service-role.ts'
import { waitForPostgres } from './wait-for-postgres.ts'
import { clientFor } from './writable-host.ts'

const POLL_MS = 200
const ROLE_LOCK_MS = 60_000

/**
 * Runs the numbered .sql files of `folder` that `schema` has not recorded, in order, and returns their
 * recorded names (run-migration.ts). Concurrent replicas wait for each other. With `serviceUrl` the role
 * of that URL may then use the schema.
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
    await lockSchema(client, schema)
    await client.query(`create schema if not exists ${schema}`)
    await client.query(
      'create table if not exists migrations (name text primary key, run_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string }>('select name from migrations')
    const seen = new Set(rows.map(({ name }) => name))
    const migrations = (await readMigrations(folder)).filter(({ name }) => !seen.has(name))
    for (const migration of migrations) await runMigration(client, migration)
    if (serviceUrl) {
      // Another database of the server may be changing the same role.
      await client.query(`set lock_timeout = ${ROLE_LOCK_MS}`)
      await grantRole(client, schema, serviceUrl)
    }
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

/**
 * Waits until no other replica migrates the schema. It polls, because a statement that waited would hold a
 * snapshot, and the other replica may be building an index, which waits for all earlier snapshots.
 */
async function lockSchema(client: pg.Client, schema: string): Promise<void> {
  const tryLock = async () => {
    const { rows } = await client.query<{ locked: boolean }>(
      'select pg_try_advisory_lock(hashtext($1)) as locked',
      [`migrate ${schema}`],
    )
    return rows[0]?.locked ?? false
  }
  while (!(await tryLock())) await pause(POLL_MS)
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
