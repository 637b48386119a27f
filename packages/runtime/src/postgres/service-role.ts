import pg from 'pg'
import type { Logger } from '../process/log.ts'
import type { Db } from './db.ts'
import { sql } from './sql.ts'
import { clientFor, hostUrls } from './writable-host.ts'

/** SQLSTATEs: the role exists already, or another migration creates or alters it at the same time. */
const RACES = new Set(['42710', '23505', 'XX000'])
const WRONG_PASSWORD = '28P01'
const TRIES = 20
const PAUSE_MS = 50

/**
 * The role that a service connects with: it reads and writes the rows of its own schema and can do
 * nothing else. Made, where it is missing, as user and password of `url` have it. `admin` must own
 * the schema, and be allowed to make roles unless this one is there.
 */
export async function grantRole(admin: pg.Client, schema: string, url: string): Promise<void> {
  const { username, password } = new URL(hostUrls(url).urls[0] ?? url)
  const [name, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
  const role = pg.escapeIdentifier(name)
  const known = await admin.query('select from pg_roles where rolname = $1', [name])
  const login = `login password ${pg.escapeLiteral(secret)}`
  if (known.rowCount === 0)
    await retryOnRace(admin, `create role ${role} ${login} nosuperuser nocreatedb nocreaterole`)
  else if (!(await canLogIn(url))) await retryOnRace(admin, `alter role ${role} ${login}`)
  await retryOnRace(
    admin,
    `grant usage on schema ${schema} to ${role};
     grant select, insert, update, delete on all tables in schema ${schema} to ${role};
     grant usage, select on all sequences in schema ${schema} to ${role};
     revoke all on table ${schema}.migrations from ${role}`,
  )
}

async function retryOnRace(admin: pg.Client, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await admin.query(statement)
      return
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (code !== 'XX000' && RACES.has(code)) return
      if (!RACES.has(code) || attempt === TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt))
    }
  }
}

/** True unless the server rejects the password; other errors are thrown. */
async function canLogIn(url: string): Promise<boolean> {
  const client = clientFor(url)
  try {
    await client.connect()
    await client.end()
    return true
  } catch (error) {
    if ((error as { code?: string }).code === WRONG_PASSWORD) return false
    throw error
  }
}

const SCHEMAS = ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler']

/**
 * Warns if the role of this service can use the schemas of other services: one URL for all services works,
 * but isolates none of them.
 */
export async function warnOfSharedRole(db: Db, log: Logger): Promise<void> {
  try {
    const open = await db.rows<{ name: string }>(sql`
      select nspname as name from pg_namespace
       where nspname = any(${SCHEMAS}::text[]) and nspname <> current_schema()
         and has_schema_privilege(oid, 'usage')`)
    if (open.length > 0)
      log.warn(
        { schemas: open.map(({ name }) => name) },
        'the Postgres role of this service reaches the schemas of other services: give each service a role of its own, see [svc.postgres] in deploy/svc.toml',
      )
  } catch (error) {
    log.warn({ err: error }, 'failed to read which schemas the Postgres role reaches')
  }
}
