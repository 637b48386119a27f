// What one execution costs in counts, which do not depend on the load of the machine: hello-world, synchronous, at
// one in flight, on one Python worker. System calls are traced, so strace must be there and may trace others.
//   npm run bench -- counts           (COUNT=100 executions, SINGLE=1 for all services in one process)
import { setTimeout as sleep } from 'node:timers/promises'
import { pg } from '../lib/database.mjs'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { traceCalls } from '../lib/strace.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { helloWorld, upload } from '../lib/workflows.mjs'
import { chainOf } from './chain.mjs'
import { countsOf } from './count-calls.mjs'
import { packetsOf } from './packets.mjs'

const COUNT = Number(process.env.COUNT ?? 100)
const WARM_SECONDS = 6
const IDLE_MS = 5_000
const figures = await withSystem({ workers: 1 }, async ({ url, pids, infra }) => {
  await upload(url, 'hello_world')
  const client = new Client(url, 1)
  const database = new pg.Client(infra.postgres.url)
  await database.connect()
  await closedLoop(() => helloWorld(client), { inFlight: 4, seconds: WARM_SECONDS })
  await sleep(IDLE_MS) // until totals are folded and idle connections are closed
  const ports = { gateway: Number(new URL(url).port) }
  const reader = { database, pids }
  const plain = await countOutside(reader, () => runAll(client))
  const idle = await countOutside(reader, () => sleep(plain.ms))
  const times = []
  const calls = await traceCalls(pids, () => runAll(client, times))
  let begun = 0
  const idleCalls = await traceCalls(pids, async () => {
    begun = Date.now() / 1_000
    await sleep(spanOf(times) * 1_000)
  })
  await database.end()
  client.close()
  const within = ({ at }) => at >= times[0].from && at <= times.at(-1).to
  const withinIdle = ({ at }) => at >= begun && at <= begun + spanOf(times)
  return {
    outside: subtract(plain.counts, idle.counts, COUNT),
    traced: subtract(
      countsOf(calls.filter(within), ports),
      countsOf(idleCalls.filter(withinIdle), ports),
      COUNT,
    ),
    chain: chainOf(calls, times, ports),
  }
})

/** Runs COUNT executions one after another; adds the seconds since 1970 of each. */
async function runAll(client, times = []) {
  for (let i = 0; i < COUNT; i++) {
    const from = Date.now() / 1_000
    await helloWorld(client)
    times.push({ from, to: Date.now() / 1_000 })
  }
}

function spanOf(times) {
  return times.at(-1).to - times[0].from
}

/** Counts of PostgreSQL and of the kernel while `work` runs, by their own statistics. */
async function countOutside({ database, pids }, work) {
  const before = { ...(await statistics(database)), ...packetsOf(pids) }
  const begun = performance.now()
  await work()
  const ms = performance.now() - begun
  const after = { ...(await statistics(database)), ...packetsOf(pids) }
  const counts = Object.fromEntries(
    Object.keys({ ...before, ...after }).map((key) => [
      key,
      (after[key] ?? 0) - (before[key] ?? 0),
    ]),
  )
  return { ms, counts }
}

/** Backends report their statistics at most once a second. */
async function statistics(database) {
  await sleep(1_500)
  const { rows } = await database.query(`
    select (select sum(xact_commit + xact_rollback)::float8 from pg_stat_database) as transactions,
           (select wal_sync::float8 from pg_stat_wal) as flushes,
           (select wal_bytes::float8 from pg_stat_wal) as wal_bytes`)
  return rows[0]
}

/** Counts for each execution without those of an idle system, below a hundredth left out. */
function subtract(loaded, idle, count) {
  const each = Object.entries(loaded).map(([key, n]) => [key, (n - (idle[key] ?? 0)) / count])
  return Object.fromEntries(each.filter(([, n]) => n >= 0.01))
}

const rowsOf = (counts) => Object.entries(counts).map(([what, each]) => ({ what, each }))
table(rowsOf(figures.outside))
table(rowsOf(figures.traced))
process.stdout.write(
  '\nThe execution of the median duration, as ms since its request, under strace:\n',
)
table(figures.chain)
process.stdout.write(
  `\n${JSON.stringify({ bench: 'counts', machine: machine(), count: COUNT, ...figures })}\n`,
)
