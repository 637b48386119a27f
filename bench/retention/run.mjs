// Cost of the expiry of finished executions: logs and captured lines deleted row by row, or dropped with their partition
// (docs/adr/0023-the-log-is-partitioned.md).
//   npm run bench -- retention           (COUNT=50000 executions, ENTRIES=6 of BYTES=200, LINES=10 of LINE_BYTES=80, TURNS=3)
// Each run writes executions in the order of their creation, then a checkpoint, so that pages are written whole to the
// write-ahead log when they are first changed, as those of old executions are.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { openDb } from '../../packages/runtime/src/postgres/db.ts'
import { migrate } from '../../packages/runtime/src/postgres/migrate.ts'
import { Processes } from '../../scripts/process/processes.ts'
import { startPostgres } from '../../scripts/stores/postgres.ts'
import { temporaryDir } from '../../scripts/testing/temporary-dir.ts'
import { dropPartitions } from '../../services/executions/src/loops/drop-partitions.ts'
import { createRetentionSweep } from '../../services/executions/src/loops/retention.ts'
import { cpuSeconds } from '../lib/cpu.mjs'
import { query } from '../lib/database.mjs'
import { table } from '../lib/report.mjs'
import { machine } from '../lib/system.mjs'

const COUNT = Number(process.env.COUNT ?? 50_000)
const ENTRIES = Number(process.env.ENTRIES ?? 6)
const BYTES = Number(process.env.BYTES ?? 200)
const LINES = Number(process.env.LINES ?? 10)
const LINE_BYTES = Number(process.env.LINE_BYTES ?? 80)
const TURNS = Number(process.env.TURNS ?? 3)
/** Partitions of the log and of the lines. */
const WAYS = [
  { name: 'deleted by row', log: 0, lines: 0 },
  { name: 'log dropped', log: 1, lines: 0 },
  { name: 'both dropped', log: 1, lines: 1 },
]
const MIGRATIONS = new URL('../../services/executions/migrations/', import.meta.url)
const RULES = {
  ...{ retention_days: 30, namespaces: {}, workflows: {}, max_executions: 0, log_days: 0 },
  ...{ approval_days: 0, batch_size: 500, log_partitions: 8 },
}
const MEBIBYTE = 2 ** 20
const log = { info() {} }

const rows = await withPostgres(async (server) => {
  const measured = []
  for (let turn = 0; turn < TURNS; turn++)
    for (const way of turn % 2 ? WAYS.toReversed() : WAYS) measured.push(await measure(server, way))
  return measured
})
table(rows)
process.stdout.write(
  `\n${JSON.stringify({ bench: 'retention', machine: machine(), count: COUNT, entries: ENTRIES, lines: LINES, rows })}\n`,
)

async function withPostgres(work) {
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

/** Fills a database, deletes all of it by a sweep, and vacuums it as autovacuum would. */
async function measure({ url, pid }, way) {
  const name = `retention_${randomUUID().slice(0, 8)}`
  await query(url, `create database ${name}`)
  const own = Object.assign(new URL(url), { pathname: name }).href
  await migrate(own, 'executions', MIGRATIONS)
  await fill(own, way)
  const state = async () => ({
    wal: (await query(own, "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as at"))[0]
      .at,
    cpu: cpuSeconds({ pid }).pid,
    ms: performance.now(),
  })
  const before = await state()
  const db = openDb(own, 'executions')
  const round = createRetentionSweep({ db, settings: RULES, log })
  while (await round());
  const swept = await state()
  await dropPartitions({ db, rules: RULES, log })
  await query(own, 'vacuum executions, events_0, captured_lines_0')
  const after = await state()
  await db.close()
  const [{ left, size }] = await query(
    own,
    `select (select count(*) from executions)::int as left,
            sum(pg_total_relation_size(relid))::float8 as size
       from (select * from pg_partition_tree('events') union all select * from pg_partition_tree('captured_lines')) as parts
      where isleaf`,
  )
  if (left > 0) throw new Error(`${left} executions are left`)
  await query(url, `drop database ${name} with (force)`)
  return {
    log_and_lines: way.name,
    wal_bytes: (after.wal - before.wal) / COUNT,
    cpu_us: ((after.cpu - before.cpu) * 1e6) / COUNT,
    sweep_ms: Math.round(swept.ms - before.ms),
    drop_and_vacuum_ms: Math.round(after.ms - swept.ms),
    mib_after: size / MEBIBYTE,
  }
}

/** Stores ended executions with logs and lines, in a partition that the next one has followed or in partition 0. */
function fill(url, { log: part, lines }) {
  return query(
    url,
    `alter table executions set (autovacuum_enabled = off)`,
    `alter table events_0 set (autovacuum_enabled = off)`,
    `alter table captured_lines_0 set (autovacuum_enabled = off)`,
    `select create_log_partition('1 day', '0')`,
    `update log_partitions set starts_at = now() - interval '110 days'`,
    `select create_log_partition('1 day', '0')`,
    `update log_partitions set starts_at = now() - interval '31 days' where part = 2`,
    `insert into requirements values ('00000000-0000-4000-8000-000000000000', '{}')`,
    `insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name, workflow_version, requirement_id,
       state, worker_name, claim_generation, last_seq, revision, input, output, created_by, log_part, created_at, updated_at,
       finished_at)
     select (lpad(to_hex(1700000000000 + i), 12, '0') || '7' || substr(md5(i::text), 1, 19))::uuid, gen_random_uuid(), 'default', 'report', 1,
            '00000000-0000-4000-8000-000000000000', 'COMPLETED', 'worker', 1, ${ENTRIES}, 4, '"World"', '"Hello, World"', 'user',
            ${part}, made, made, made
       from generate_series(1, ${COUNT}) as i
      cross join lateral (select now() - interval '100 days' + i * interval '10 ms' as made) as t`,
    `insert into events (execution_id, seq, event_id, type, source_id, name, value, time, part, xid)
     select execution_id, seq, substr(md5(seq || execution_id::text), 1, 16),
            case when seq = ${ENTRIES} then 'WORKFLOW_COMPLETED' else 'TASK_COMPLETED' end, 'report', 'report',
            to_json(repeat('x', ${BYTES})), '2026-01-02T03:04:05.000006', ${part}, '1'
       from executions cross join generate_series(1, ${ENTRIES}) as seq order by created_at, seq`,
    `insert into captured_lines
     select execution_id, seq, substr(md5(execution_id::text), 1, 16), 'report', 20, 'stdout', repeat('x', ${LINE_BYTES}),
            '2026-01-02T03:04:05.006Z', seq, seq * ${LINE_BYTES}, ${lines}
       from executions cross join generate_series(1, ${LINES}) as seq order by created_at, seq`,
    `insert into totals_delta select 'default', 'report', 'COMPLETED', ${COUNT}`,
    `insert into relay_cursor select name, pg_current_xact_id(), '00000000-0000-0000-0000-000000000000', 0
       from unnest(array['executions', 'wake', 'children']) as name
     on conflict (name) do update set xid = excluded.xid`,
    'vacuum analyze executions',
    `vacuum analyze events_${part}`,
    `vacuum analyze captured_lines_${lines}`,
    'checkpoint',
  )
}
