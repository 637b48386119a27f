// Delay of schedules that are due in the same second, and the cost of stored ones: one system for each
// number of stored schedules, in parallel, so that other load on the machine affects all of them.
//   npm run bench -- schedules        (ROUNDS=10, DUE=1000, STORED=1000,100000)
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startReplica } from '../../scripts/system/system.ts'
import { cpuSeconds } from '../lib/cpu.mjs'
import { Client } from '../lib/http.mjs'
import { percentile } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { upload } from '../lib/workflows.mjs'

const ROUNDS = Number(process.env.ROUNDS ?? 10)
const DUE = Number(process.env.DUE ?? 1_000)
const STORED = (process.env.STORED ?? '1000,100000').split(',').map(Number)
const EVERY_S = 8
/** Duration of one measurement, of an idle system or of a burst. */
const MEASURE_S = 4
const LEAD_MS = 1_000
const CONCURRENCY = 16
const SCHEDULERS = 3

const points = await withSystems(STORED, async (systems) => {
  // The first burst compiles code, plans statements and loads pages; it is not counted.
  for (const system of systems) await burst(system)
  const measured = systems.map(() => [])
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, system] of systems.entries()) measured[i].push(await burst(system))
  return systems.map(({ stored }, i) => pointOf(stored, measured[i]))
})

table(points)
table([{ due_at_once: DUE, rounds: ROUNDS, schedulers: SCHEDULERS, ...machine() }])
process.stdout.write(
  `\n${JSON.stringify({ bench: 'schedules', machine: machine(), due: DUE, points })}\n`,
)

/** Returns medians over the bursts; the delays are those of all ticks. */
function pointOf(stored, bursts) {
  const delays = bursts.flatMap((burst) => burst.delays)
  const median = (of) => percentile(bursts.map(of), 50)
  const [p50, p95, p99, max] = [50, 95, 99, 100].map((p) => percentile(delays, p))
  return {
    ...{ stored, ticks: delays.length, p50, p95, p99, max },
    cpu_ms_per_tick: median(({ cpu }) => cpu.all),
    schedulers_cpu_ms_per_tick: median(({ cpu }) => cpu.schedulers),
    postgres_cpu_ms_per_tick: median(({ cpu }) => cpu.postgres),
    pages_per_tick: median(({ pages }) => pages),
    idle_cpu_ms_per_s: median(({ idle }) => idle.all),
  }
}

/** Starts the systems, nested, and passes all of them to `work`. */
async function withSystems([stored, ...others], work, up = []) {
  if (stored === undefined) return await work(up)
  return await withSystem({ workers: 0 }, async (system) => {
    const more = Array.from({ length: SCHEDULERS - 1 }, (_, i) =>
      startReplica('scheduler', `scheduler-${i + 2}`, system),
    )
    const replicas = (await Promise.all(more)).map(({ name, pid }) => [name, pid])
    const pids = { ...system.pids, ...Object.fromEntries(replicas) }
    const db = new pg.Client({ connectionString: system.infra.postgres.url })
    // A stop signal ends the server before this connection.
    db.on('error', () => {})
    await db.connect()
    try {
      await upload(system.url, 'hello_world')
      await create(system.url)
      await store(db, stored - DUE)
      return await withSystems(others, work, [...up, { stored, pids, db }])
    } finally {
      await db.end()
    }
  })
}

/** Creates the schedules over HTTP; none is due before `makeDue`. */
async function create(url) {
  const client = new Client(url)
  const names = Array.from({ length: DUE }, (_, i) => `due ${i}`)
  const next = async () => {
    for (let name = names.pop(); name; name = names.pop()) {
      const config = {
        type: 'interval',
        interval_seconds: EVERY_S,
        start_time: '9000-01-01T00:00:00Z',
      }
      const body = JSON.stringify({ workflow_name: 'hello_world', name, schedule_config: config })
      const { status, text } = await client.request('POST', '/schedules', { body })
      if (status !== 200) throw new Error(`create: ${status} ${text}`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, next))
  client.close()
}

/** Stores further schedules that are due in years, as in a large system. */
async function store(db, count) {
  await db.query(
    `insert into scheduler.schedules
       (id, name, workflow_id, workflow_namespace, workflow_name, schedule_type, schedule_config,
        input, input_bytes, changed_by, anchor_at, next_run_at)
     select gen_random_uuid(), 'stored ' || i, workflow_id, workflow_namespace, workflow_name,
            schedule_type, schedule_config, input, input_bytes, changed_by, anchor_at,
            now() + interval '5 years' + i * interval '1 s'
       from (select * from scheduler.schedules where name = 'due 0') as one,
            generate_series(1, $1::int) as i`,
    [count],
  )
}

/** Measures the idle system, and then a burst in which all schedules fire once. */
async function burst({ db, pids }) {
  await settle(db)
  const idle = perSecond(await used(pids, () => pause(MEASURE_S * 1_000)))
  const at = await makeDue(db)
  const before = await pagesRead(db)
  await pause(at.getTime() - Date.now() - LEAD_MS)
  const busy = await used(pids, () => pause(MEASURE_S * 1_000))
  const pages = (await pagesRead(db)) - before
  const delays = await delaysOf(db, at)
  if (delays.length !== DUE) throw new Error(`${delays.length} of ${DUE} ticks started`)
  const cpu = Object.fromEntries(
    Object.entries(busy.ms).map(([name, ms]) => [name, (ms - idle[name] * busy.seconds) / DUE]),
  )
  return { delays, cpu, pages: pages / DUE, idle }
}

/** Completes or drops the work that earlier bursts have left to PostgreSQL and the schedulers. */
async function settle(db) {
  await db.query(`
    update scheduler.schedules s set next_run_at = '9999-01-01'
      from (select id from scheduler.schedules where name like 'due %' order by id for update) as due
     where s.id = due.id`)
  await db.query('update scheduler.schedule_ticks set check_at = null, completed_at = now()')
  await db.query('vacuum analyze scheduler.schedules, scheduler.schedule_ticks')
  await db.query('vacuum executions.executions')
  await db.query('checkpoint')
}

/** Makes all schedules due in the same second. Returns that time. */
async function makeDue(db) {
  const { rows } = await db.query(`
    update scheduler.schedules s
       set next_run_at = t.at, anchor_at = t.at,
           schedule_config = json_build_object('type', 'interval', 'interval_seconds', ${EVERY_S}, 'start_time', to_char(t.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
      from (select id from scheduler.schedules where name like 'due %' order by id for update) as due,
           (select date_trunc('second', now()) + interval '4 s' as at) as t
     where s.id = due.id returning t.at`)
  return rows[0].at
}

async function delaysOf(db, at) {
  const { rows } = await db.query(
    `select (extract(epoch from e.created_at - t.nominal_at) * 1000)::float8 as ms
       from scheduler.schedule_ticks t join executions.executions e using (execution_id)
      where t.nominal_at = $1`,
    [at],
  )
  return rows.map(({ ms }) => ms)
}

/** Counts the accesses to pages of the scheduler's tables and indexes: a figure without noise. */
async function pagesRead(db) {
  // Each PostgreSQL backend reports its statistics at most once a second.
  await pause(1_200)
  const { rows } = await db.query(
    `select sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8 as pages
       from pg_statio_all_tables where schemaname = 'scheduler'`,
  )
  return rows[0].pages
}

/** Measures the CPU milliseconds of the processes during `work`. */
async function used(pids, work) {
  const [before, begun] = [cpuSeconds(pids), performance.now()]
  await work()
  const after = cpuSeconds(pids)
  const sum = (of) =>
    Object.keys(pids)
      .filter(of)
      .reduce((ms, name) => ms + (after[name] - before[name]) * 1_000, 0)
  const ms = {
    all: sum(() => true),
    schedulers: sum((name) => name.startsWith('scheduler')),
    postgres: sum((name) => name.startsWith('postgres')),
  }
  return { ms, seconds: (performance.now() - begun) / 1_000 }
}

function perSecond({ ms, seconds }) {
  return Object.fromEntries(Object.entries(ms).map(([name, all]) => [name, all / seconds]))
}
