// How executions/s and the cost of an execution change with the replicas: hello-world with scripted workers over the
// real protocol, with 1, 2 and 3 replicas of gateway, executions and dispatcher. With SHARE each of these processes
// gets that part of a core, by a control group. Its last line is the input of docs/scaling.md and bench/scale/queue.mjs.
//   npm run bench -- scale            (REPLICAS=1,2,3 IN_FLIGHT=8,64 SECONDS=8 SHARE=0.25)
import { cpuSeconds } from '../lib/cpu.mjs'
import { limitCpu } from '../lib/cpu-share.mjs'
import { pg } from '../lib/database.mjs'
import { Client } from '../lib/http.mjs'
import { closedLoop, percentile } from '../lib/load.mjs'
import { withReplicas } from '../lib/replicated-system.mjs'
import { table } from '../lib/report.mjs'
import { machine } from '../lib/system.mjs'
import { scriptedWorkers } from '../lib/worker.mjs'
import { helloWorld, upload } from '../lib/workflows.mjs'

const list = (text) => text.split(',').map(Number)
const REPLICAS = list(process.env.REPLICAS ?? '1,2,3')
const IN_FLIGHT = list(process.env.IN_FLIGHT ?? '8,64')
const SECONDS = Number(process.env.SECONDS ?? 8)
const WARM_SECONDS = Number(process.env.WARM_SECONDS ?? 10)
const SHARE = Number(process.env.SHARE ?? 0)
const WORKERS = 4
const SLOTS = 128
const SCALED = ['gateway', 'executions', 'dispatcher']

const points = []
for (const count of REPLICAS) {
  const replicas = Object.fromEntries(SCALED.map((name) => [name, count]))
  points.push(...(await withReplicas(replicas, (system) => measureAll(count, system))))
}
table(points)
const described = { bench: 'scale', share: SHARE, machine: machine(), points }
process.stdout.write(`\n${JSON.stringify(described)}\n`)

/** Measures one number of replicas at each number of executions in flight. */
async function measureAll(replicas, { url, home, pids, nats, infra }) {
  const limited =
    SHARE > 0
      ? limitCpu(
          SCALED.flatMap((name) => pids[name]),
          SHARE,
        )
      : undefined
  if (limited && !limited.isLimited) throw new Error('SHARE: no control group can be made here')
  const client = new Client(url)
  const database = new pg.Client(infra.postgres.url)
  await database.connect()
  await upload(url, 'hello_world')
  const features = ['claim_by_delivery']
  const workers = await scriptedWorkers(client, home, { count: WORKERS, slots: SLOTS, features })
  const run = () => helloWorld(client)
  await closedLoop(run, { inFlight: 16, seconds: WARM_SECONDS })
  const measured = []
  for (const inFlight of IN_FLIGHT) {
    const before = await read({ pids, nats, database })
    const { count, seconds, latencies } = await closedLoop(run, { inFlight, seconds: SECONDS })
    const after = await read({ pids, nats, database })
    const each = (name) => (after[name] - before[name]) / count
    measured.push({
      replicas,
      in_flight: inFlight,
      per_second: count / seconds,
      p50: percentile(latencies, 50),
      p99: percentile(latencies, 99),
      ...Object.fromEntries(Object.keys(after).map((name) => [name, each(name)])),
    })
  }
  for (const { close } of workers) close()
  client.close()
  await database.end()
  limited?.release()
  return measured
}

/** Reads the totals so far: CPU-ms by service, transactions and bytes of PostgreSQL, messages and bytes of NATS. */
async function read({ pids, nats, database }) {
  const named = Object.entries(pids).flatMap(([name, all]) =>
    all.map((pid, i) => [`${name} ${i}`, pid]),
  )
  const seconds = cpuSeconds(Object.fromEntries(named))
  const cpu = {}
  for (const [name, value] of Object.entries(seconds)) {
    const service = name.split(' ')[0]
    cpu[service] = (cpu[service] ?? 0) + value * 1_000
  }
  const { rows } = await database.query(`
    select sum(xact_commit + xact_rollback)::float8 as commits,
           pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal from pg_stat_database`)
  const { in_msgs, out_msgs, in_bytes, out_bytes } = await nats.traffic()
  const system = Object.values(cpu).reduce((sum, ms) => sum + ms, 0)
  return {
    ...{ cpu_ms: system, ...cpu },
    ...{ commits: rows[0].commits, wal_bytes: rows[0].wal },
    ...{ nats_messages: in_msgs + out_msgs, nats_bytes: in_bytes + out_bytes },
  }
}
