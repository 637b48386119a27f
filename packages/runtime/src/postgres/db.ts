import type { Socket } from 'node:net'
import pg from 'pg'
import { poolConnections, poolWaiting } from '../metrics/metrics.ts'
import type { Logger } from '../process/log.ts'
import { DatabaseWatch, type ServerState } from './database-watch.ts'
import { compile, type Sql, sql } from './sql.ts'
import { readAtStart } from './wait-for-postgres.ts'
import { connectionTo } from './writable-host.ts'

declare const open: unique symbol

export interface Queries {
  rows<T>(query: Sql): Promise<T[]>
  maybe<T>(query: Sql): Promise<T | undefined>
  /** Runs a statement and returns the number of affected rows. */
  run(query: Sql): Promise<number>
}

/** Queries inside an open transaction; cannot be created outside of one. */
export interface Tx extends Queries {
  readonly [open]: true
  /**
   * Sends the commit right after the statements sent so far, without waiting for their answers, which saves
   * one round trip. If one of them fails, the database rolls back instead, and `tx` rejects.
   */
  commitBehind(last: Promise<unknown>): Promise<void>
}

export interface Db extends Queries {
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Rejects while the database does not answer, accepts no writes or has no space, or the clocks differ. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface DbOptions {
  maxConnections?: number
  statementMs?: number
  /** Milliseconds that a statement waits for a lock; up to its own time limit unless set. */
  lockMs?: number
  /**
   * Statements read indexes by plain scans only. A plain scan marks the entries of dead rows, and the next one passes
   * over them; a bitmap scan reads the row of every dead entry until vacuum removes it. In an index that rows leave
   * as fast as they enter it, such as that of held executions, nearly all entries are dead.
   */
  plainScans?: boolean
  /** Reports problems of the database. */
  log?: Logger
  /** The clock of this machine, in milliseconds since 1970. */
  nowMs?: () => number
}

const CONNECT_MS = 5_000
const STATEMENT_MS = 15_000
/** Time after its limit in which the server reports that it ended a statement; then the server hangs. */
const ANSWER_MS = 1_000
/** A transaction that is idle for longer belongs to a hung process; the server ends it and frees its rows. */
const IDLE_IN_TRANSACTION_MS = 5_000
const MAX_CONNECTIONS = 10

const identity = (text: string) => text
const PARSERS = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.JSON, identity],
  [pg.types.builtins.UUID, (text) => text.replaceAll('-', '')],
])
const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/**
 * A pool of connections that see one schema, at the host of the URL that accepts writes. Ids come as 32 hex digits, `json` as its
 * text, absent values as undefined. Every wait has an end.
 */
export function openDb(url: string, schema: string, options: DbOptions = {}): Db {
  const { statementMs = STATEMENT_MS } = options
  const pool = new pg.Pool({
    ...connectionTo(url),
    options:
      `-c search_path=${schema} -c lock_timeout=${options.lockMs ?? 0}` +
      (options.plainScans ? ' -c enable_bitmapscan=off' : ''),
    application_name: `windlass-${schema}`,
    types,
    max: options.maxConnections ?? MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: statementMs,
    query_timeout: statementMs + ANSWER_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    pipeline: true,
  })
  // A connection that breaks while idle is replaced at its next use; without a handler, its error would end
  // the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const stopObserving = observePool(pool)
  const watch = new DatabaseWatch(options.log, options.nowMs)
  const context = { watch, nameOf: createNames() }
  const own = queries(pool, context)

  return {
    ...own,
    async tx(work) {
      const client = await pool.connect()
      let broken: Error | undefined
      let committed: Promise<unknown> | undefined
      const commit = () => {
        holdBack(client)
        committed = client.query('commit')
        return committed
      }
      try {
        holdBack(client)
        const begun = client.query('begin')
        begun.catch(() => {})
        const result = await work({
          ...queries(client, context),
          commitBehind: async (last) => void (await Promise.all([last, begun, commit()])),
        } as Tx)
        if (!committed) await Promise.all([begun, commit()])
        return result
      } catch (error) {
        watch.onError(error)
        // If it were released earlier, the connection would not know which statements it failed to prepare.
        await (committed ?? client.query('rollback')).catch((reason: Error) => {
          broken = reason
        })
        throw error
      } finally {
        client.release(broken)
      }
    },
    check: () => watch.check(() => own.maybe<ServerState>(STATE)),
    close() {
      stopObserving()
      watch.close()
      return pool.end()
    },
  }
}

const STATE = sql`
  select current_setting('transaction_read_only') = 'on' as is_read_only,
         extract(epoch from clock_timestamp())::float8 as now_s`

function observePool(pool: pg.Pool): () => void {
  const stops = [
    poolConnections.observe((report) => {
      report(pool.idleCount, { state: 'idle' })
      report(pool.totalCount - pool.idleCount, { state: 'busy' })
    }),
    poolWaiting.observe((report) => report(pool.waitingCount)),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

/** Opens a database at the start of a process: waits while PostgreSQL is unavailable, starts or recovers. */
export async function openReadyDb(
  { url, schema }: { url: string; schema: string },
  log: Logger,
  options: DbOptions = {},
): Promise<Db> {
  const db = openDb(url, schema, { ...options, log })
  try {
    await readAtStart(log, () => db.run(sql`select 1`))
  } catch (error) {
    await db.close()
    throw error
  }
  return db
}

/**
 * Number of distinct texts of a database that get a name; a service has at most about 150. A prepared statement
 * stays in the server's memory until its connection closes, and its text in this process: without a
 * bound, texts that vary (a fragment for each filter) would fill both. Later texts are sent without
 * a name, so the server plans them at each use.
 */
const MAX_PREPARED = 500

type NameOf = (text: string) => string | undefined

/**
 * Returns the names under which texts are prepared, once per connection, because planning costs more than running
 * most statements. Each database has its own, so that varying texts of one, such as searches, leave those of
 * others prepared.
 */
function createNames(): NameOf {
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known || names.size >= MAX_PREPARED) return known
    const name = `s${names.size}`
    names.set(text, name)
    return name
  }
}

interface QueryContext {
  watch: DatabaseWatch
  nameOf: NameOf
}

function queries(client: pg.Pool | pg.PoolClient, { watch, nameOf }: QueryContext): Queries {
  const query = async (statement: Sql) => {
    const { text, values } = compile(statement)
    holdBack(client)
    try {
      return await client.query({ name: nameOf(text), text, values })
    } catch (error) {
      watch.onError(error)
      throw error
    }
  }
  const rows = async <T>(statement: Sql) => (await query(statement)).rows.map(present) as T[]
  return {
    rows,
    maybe: async <T>(statement: Sql) => (await rows<T>(statement))[0],
    run: async (statement) => (await query(statement)).rowCount ?? 0,
  }
}

/**
 * Statements that are sent in one turn of the event loop leave in one write, because a system call costs
 * more than most of them.
 */
function holdBack(client: pg.Pool | pg.PoolClient): void {
  const { connection } = client as { connection?: { stream: Socket } }
  if (!connection || connection.stream.writableCorked > 0) return
  connection.stream.cork()
  process.nextTick(() => connection.stream.uncork())
}

function present(row: Record<string, unknown>): Record<string, unknown> {
  for (const key in row) if (row[key] === null) row[key] = undefined
  return row
}
