// How late schedules start that are due in the same second, and what stored ones cost.
//   npm run bench -- schedules        (BURSTS=5 a point, DUE=1000, STORED=1000,100000)
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { startReplica } from '../../scripts/lib/system.mjs'
import { cpuSeconds } from '../lib/cpu.mjs'
import { Client } from '../lib/http.mjs'
import { percentile } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { upload } from '../lib/workflows.mjs'

const BURSTS = Number(process.env.BURSTS ?? 5)
const DUE = Number(process.env.DUE ?? 1_000)
const STORED = (process.env.STORED ?? '1000,100000').split(',').map(Number)
const EVERY_S = 8
const IDLE_S = 5
const AT_ONCE = 16

const points = await withSystem({ workers: 0 }, async (system) => {
  const replicas = [2, 3].map((i) => startReplica('scheduler', `scheduler-${i}`, system))
  const [second, third] = await Promise.all(replicas)
  const pids = {
    ...system.pids,
    scheduler: system.pids.scheduler,
    [second.name]: second.pid,
    [third.name]: third.pid,
  }
  const db = new pg.Client({ connectionString: system.infra.postgres.url })
  await db.connect()
  await upload(system.url, 'hello_world')
  const client = new Client(system.url)
  await create(client)

  // The first burst compiles and plans; it counts for nothing.
  await burst(db, 1)
  const measured = []
  for (const stored of STORED) {
    await store(db, stored - DUE)
    const idle = await used(pids, () => pause(IDLE_S * 1_000))
    const first = await setGoing(db)
    const busy = await used(pids, async () => {
      await pause(first.getTime() - Date.now() + (BURSTS * EVERY_S - EVERY_S / 2) * 1_000)
    })
    await db.query(
      `update scheduler.schedules set next_run_at = '9999-01-01' where name like 'due %'`,
    )
    await pause(1_000)
    const delays = await delaysSince(db, first)
    if (delays.length !== DUE * BURSTS)
      throw new Error(`${delays.length} of ${DUE * BURSTS} ticks started`)
    const [p50, p95, p99, max] = [50, 95, 99, 100].map((p) => percentile(delays, p))
    measured.push({
      stored,
      ticks: delays.length,
      ...{ p50, p95, p99, max },
      cpu_ms_per_tick: (busy.ms - (idle.ms / IDLE_S) * busy.seconds) / delays.length,
      idle_cpu_ms_per_s: idle.ms / IDLE_S,
    })
  }
  client.close()
  await db.end()
  return measured
})

table(points)
table([{ due_at_once: DUE, schedulers: 3, ...machine() }])
process.stdout.write(
  `\n${JSON.stringify({ bench: 'schedules', machine: machine(), due: DUE, points })}\n`,
)

/** As a user makes them; none is due before `setGoing`. */
async function create(client) {
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
  await Promise.all(Array.from({ length: AT_ONCE }, next))
}

/** Rows like the others, that are due in years: what a large system holds. */
async function store(db, count) {
  const { rows } = await db.query(
    `select count(*)::int as n from scheduler.schedules where name like 'stored %'`,
  )
  await db.query(
    `insert into scheduler.schedules
       (id, name, workflow_id, workflow_namespace, workflow_name, schedule_type, schedule_config,
        input, input_bytes, changed_by, anchor_at, next_run_at)
     select gen_random_uuid(), 'stored ' || i, workflow_id, workflow_namespace, workflow_name,
            schedule_type, schedule_config, input, input_bytes, changed_by, anchor_at,
            now() + interval '5 years' + i * interval '1 s'
       from (select * from scheduler.schedules where name = 'due 0') as one,
            generate_series($1::int, $2::int) as i`,
    [rows[0].n + 1, count],
  )
  await db.query('vacuum analyze scheduler.schedules')
  await db.query('checkpoint')
}

/** Lets all of them fire so many times in the same seconds. Answers when the first time was. */
async function burst(db, times) {
  const first = await setGoing(db)
  await pause(first.getTime() - Date.now() + (times * EVERY_S - EVERY_S / 2) * 1_000)
  await db.query(
    `update scheduler.schedules set next_run_at = '9999-01-01' where name like 'due %'`,
  )
  await pause(1_000)
  return first
}

/** All of them, from the same second on. Answers when. */
async function setGoing(db) {
  const { rows } = await db.query(`
    update scheduler.schedules s
       set next_run_at = t.at, anchor_at = t.at,
           schedule_config = json_build_object('type', 'interval', 'interval_seconds', ${EVERY_S}, 'start_time', to_char(t.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
      from (select date_trunc('second', now()) + interval '5 s' as at) as t
     where name like 'due %' returning t.at`)
  return rows[0].at
}

async function delaysSince(db, first) {
  const { rows } = await db.query(
    `select (extract(epoch from e.created_at - t.nominal_at) * 1000)::float8 as ms
       from scheduler.schedule_ticks t join executions.executions e using (execution_id)
      where t.nominal_at >= $1`,
    [first],
  )
  return rows.map(({ ms }) => ms)
}

/** What every process uses meanwhile, in milliseconds of CPU. */
async function used(pids, work) {
  const all = () => Object.values(cpuSeconds(pids)).reduce((sum, seconds) => sum + seconds, 0)
  const [before, begun] = [all(), performance.now()]
  await work()
  return { ms: (all() - before) * 1_000, seconds: (performance.now() - begun) / 1_000 }
}
