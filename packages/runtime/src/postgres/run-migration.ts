/**
 * One migration while services use the tables.
 *
 * Problem
 *
 * Most changes of a table need a lock that excludes all others. It is held for milliseconds, but a
 * statement that waits for it behind one long query blocks every query that comes later. Building an
 * index takes seconds, under a lock that excludes writers.
 *
 * Protocol
 *
 *   - A file is one transaction. It waits LOCK_MS for a lock, then it is undone and tried again, so that
 *     others wait at most that long. Every YIELD_EVERY-th attempt waits YIELD_MS: PostgreSQL ends an
 *     autovacuum that holds up another session for a second (deadlock_timeout), not before.
 *   - A file whose first lines say `-- each statement commits` is not a transaction: `create index
 *     concurrently` and `drop index concurrently` cannot run in one. Nothing waits for their locks, so
 *     they may wait for long transactions. The file is recorded at its end and may be repeated: an index
 *     that exists is not built again, one that an interrupted build left invalid is.
 */
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

const LOCK_MS = 100
const YIELD_EVERY = 10
const YIELD_MS = 2_000
const PAUSE_MS = 200
/** About five minutes, including their waits and pauses. */
const MAX_ATTEMPTS = 600
const CONCURRENT_LOCK_MS = 600_000
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * First line of a file that was renamed after its release: the name under which databases record it. It
 * does not run again where it has run, and older releases, which look for the first name, do not run it
 * either.
 */
const RECORDED_AS = /^-- recorded as (\S+)\n/
const EACH_COMMITS = /^-- each statement commits$/m
/** Statements of such a file end with the line; none contains a semicolon there. */
const END_OF_STATEMENT = /;[ \t]*$/m
const BUILT_INDEX = /^\s*(?:--.*\n\s*)*create (?:unique )?index concurrently (\w+)/i

export interface Migration {
  /** Name under which databases record it. */
  name: string
  text: string
}

/** Reads the .sql files of a folder in their order. */
export async function readMigrations(folder: URL): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  const read = async (file: string) => {
    const text = await readFile(new URL(file, folder), 'utf8')
    return { name: RECORDED_AS.exec(text)?.[1] ?? file, text }
  }
  return Promise.all(files.map(read))
}

/** Runs and records a migration. Throws with its name; what a transaction has changed is then undone. */
export async function runMigration(client: pg.Client, migration: Migration): Promise<void> {
  try {
    if (EACH_COMMITS.test(migration.text)) await runStatements(client, migration)
    else await retryLocks(() => runTransaction(client, migration), client)
  } catch (error) {
    throw new Error(`migration ${migration.name} failed`, { cause: error })
  }
}

const record = (client: pg.Client, name: string) =>
  client.query('insert into migrations (name) values ($1)', [name])

async function runTransaction(client: pg.Client, { name, text }: Migration): Promise<void> {
  await client.query('begin')
  try {
    await record(client, name)
    await client.query(text)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** Repeats `change` until it gets its locks. */
async function retryLocks(change: () => Promise<void>, client: pg.Client): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const waitMs = attempt % YIELD_EVERY === 0 ? YIELD_MS : LOCK_MS
    await client.query(`set lock_timeout = ${waitMs}`)
    try {
      return await change()
    } catch (error) {
      const isLocked = error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE
      if (!isLocked || attempt === MAX_ATTEMPTS) throw error
      await pause(PAUSE_MS)
    }
  }
}

async function runStatements(client: pg.Client, { name, text }: Migration): Promise<void> {
  await client.query(`set lock_timeout = ${CONCURRENT_LOCK_MS}`)
  for (const statement of text.split(END_OF_STATEMENT)) {
    const index = BUILT_INDEX.exec(statement)?.[1]
    if (index === undefined || !(await isBuilt(client, index))) await client.query(statement)
  }
  await record(client, name)
}

/** True if the index is complete; one that is not is removed. */
async function isBuilt(client: pg.Client, index: string): Promise<boolean> {
  const { rows } = await client.query<{ is_valid: boolean }>(
    'select indisvalid as is_valid from pg_index where indexrelid = to_regclass($1)',
    [index],
  )
  const [found] = rows
  if (found && !found.is_valid) await client.query(`drop index concurrently ${index}`)
  return found?.is_valid ?? false
}
