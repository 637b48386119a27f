// Compares layouts of the table `executions`: heap-only updates, bytes, write-ahead log and processor time of
// PostgreSQL for each execution, without its log (docs/adr/0021-updates-are-not-heap-only.md).
//   npm run bench -- layouts           (COUNT=6000, BATCH=64, FILL=80,50; POSTGRES=url: a server of another version)
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { migrate } from '../../packages/runtime/src/postgres/migrate.ts'
import { Processes } from '../../scripts/process/processes.ts'
import { startPostgres } from '../../scripts/stores/postgres.ts'
import { temporaryDir } from '../../scripts/testing/temporary-dir.ts'
import { cpuSeconds } from '../lib/cpu.mjs'
import { pg, query } from '../lib/database.mjs'
import { table } from '../lib/report.mjs'
import { machine } from '../lib/system.mjs'
import { LAYOUTS } from './layouts.mjs'

const COUNT = Number(process.env.COUNT ?? 6_000)
const BATCH = Number(process.env.BATCH ?? 64)
const FILL = (process.env.FILL ?? '80,50').split(',').map(Number)
const MIGRATIONS = new URL('../../services/executions/migrations/', import.meta.url)
/** Steps of an execution, each a transaction; the first one inserts. */
const LIVES = {
  'queued, leased, claimed, running, ended': ['createQueued', 'lease', 'claim', 'run', 'end'],
  'created with its lease, ended': ['createLeased', 'end'],
}
/** Executions between two vacuums, which are those of autovacuum otherwise. */
const VACUUM_EVERY = 1_500
/** A session reports its statistics when it ends. */
const REPORTED_MS = 500

const rows = await withPostgres(async ({ url, pid }) => {
  const measured = []
  for (const [life, names] of Object.entries(LIVES))
    for (const fill of FILL)
      for (const [layout, { setUp, stepsFor }] of Object.entries(LAYOUTS)) {
        const own = await createDatabase(url)
        const columns = await prepare(own, setUp, fill)
        const steps = stepsFor(columns)
        const before = cpuSeconds({ pid }).pid
        const wal = await live(
          own,
          names.map((name) => steps[name]),
        )
        const cpu_ms = ((cpuSeconds({ pid }).pid - before) * 1_000) / COUNT
        measured.push({ life, fill, layout, ...(await figuresOf(own)), wal: wal / COUNT, cpu_ms })
        await dropDatabase(url, own)
      }
  return measured
})
table(rows)
process.stdout.write(
  `\n${JSON.stringify({ bench: 'layouts', machine: machine(), count: COUNT, rows })}\n`,
)

async function withPostgres(work) {
  if (process.env.POSTGRES) return work({ url: process.env.POSTGRES, pid: 0 })
  const dir = temporaryDir()
  const processes = new Processes(dir)
  try {
    const { url, child } = await startPostgres(processes, dir, { durable: true })
    return await work({ url, pid: child.pid })
  } finally {
    await processes.stopAll()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function createDatabase(url) {
  const name = `layout_${randomUUID().slice(0, 8)}`
  await query(url, `create database ${name}`)
  const own = new URL(url)
  own.pathname = `/${name}`
  return own.href
}

async function dropDatabase(url, own) {
  await query(url, `drop database ${new URL(own).pathname.slice(1)} with (force)`)
}

/** Makes a layout; returns the columns of the table. */
async function prepare(url, setUp, fill) {
  await migrate(url, 'executions', MIGRATIONS)
  await query(
    url,
    `insert into requirements values ('00000000-0000-4000-8000-000000000000', '{}')`,
    setUp,
    // Autovacuum would come at another moment in each run.
    `do $$ declare one name; begin
       for one in select relname from pg_class where relnamespace = 'executions'::regnamespace and relkind = 'r'
       loop execute format('alter table %I set (autovacuum_enabled = off)', one); end loop;
       for one in select relname from pg_class where relname in ('executions', 'live')
       loop execute format('alter table %I set (fillfactor = ${fill})', one); end loop;
     end $$`,
    'checkpoint',
  )
  const columns = await query(
    url,
    `select attname from pg_attribute where attrelid = 'executions'::regclass and attnum > 0 and not attisdropped`,
  )
  return columns.map(({ attname }) => attname)
}

/** Runs all executions, a batch at a time; returns the bytes of write-ahead log. */
async function live(url, steps) {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=executions' })
  await client.connect()
  const position = async () =>
    Number(
      (await client.query("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as at")).rows[0].at,
    )
  const before = await position()
  for (let begun = 0; begun < COUNT; begun += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, COUNT - begun) }, () => randomUUID())
    for (const [i, text] of steps.entries())
      await client.query({ name: `step-${i}`, text, values: [ids] })
    if (begun % VACUUM_EVERY >= VACUUM_EVERY - BATCH) await client.query('vacuum')
  }
  const after = await position()
  await client.end()
  return after - before
}

async function figuresOf(url) {
  await new Promise((resolve) => setTimeout(resolve, REPORTED_MS))
  const [found] = await query(
    url,
    `select sum(n_tup_upd)::float8 as updates, sum(n_tup_hot_upd)::float8 as hot,
            sum(pg_table_size(relid))::float8 as rows, sum(pg_indexes_size(relid))::float8 as indexes
       from pg_stat_user_tables where relname in ('executions', 'unfinished', 'ended', 'live')`,
  )
  return {
    updates: found.updates / COUNT,
    hot_percent: found.updates > 0 ? (100 * found.hot) / found.updates : 0,
    rows: found.rows / COUNT,
    indexes: found.indexes / COUNT,
  }
}
