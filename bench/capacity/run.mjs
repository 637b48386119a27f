// What a rate of executions needs: replicas and processors from the costs that `npm run bench -- scale` measured
// (bench/capacity/measured.json is its last line, or FILE), checked by a queueing simulation of one cell.
//   npm run bench -- capacity [FILE]          (RATES=10,1000,100000 UTILIZATION=0.6 CELL_CORES=32
//                                             CELL_WAL_MB=150)
import { readFileSync } from 'node:fs'
import { percentile } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { simulate } from './simulate.mjs'

const file = process.argv[2] ?? new URL('measured.json', import.meta.url)
const { points } = JSON.parse(readFileSync(file, 'utf8'))
const RATES = (process.env.RATES ?? '10,1000,100000').split(',').map(Number)
/** Part of its processors that a service may use: the rest is for bursts, and for the loss of a replica. */
const UTILIZATION = Number(process.env.UTILIZATION ?? 0.6)
/** Processors of the largest PostgreSQL server that an operator wants. */
const CELL_CORES = Number(process.env.CELL_CORES ?? 32)
/** Write-ahead log that its disk and its standby take, in MB/s. */
const CELL_WAL_MB = Number(process.env.CELL_WAL_MB ?? 150)
/** Visits of an execution, as in simulate.mjs. */
const VISITS = { gateway: 3, executions: 2, dispatcher: 1 }
const COMMANDS = 2

const cost = costsOf(points)
table([cost])
table(RATES.map(plan))

/**
 * Derives the processor time of each visit, of a commit and of a command in it, in ms. Small batches have more
 * commits for the same commands, so the two costs of PostgreSQL are the line through the point with the most and the
 * one with the fewest commits per execution.
 */
function costsOf(measured) {
  const single = measured.filter(({ replicas }) => replicas === 1)
  const byCommits = single.toSorted((a, b) => a.commits - b.commits)
  const [few, many] = [byCommits[0], byCommits.at(-1)]
  const slope = (many.postgres - few.postgres) / (many.commits - few.commits)
  const commit = Math.max(0, slope)
  const command = Math.max(0, few.postgres - commit * few.commits) / COMMANDS
  const visits = Object.entries(VISITS).map(([name, visits]) => [name, few[name] / visits])
  return {
    ...Object.fromEntries(visits),
    commit,
    command,
    postgres: few.postgres,
    wal_bytes: few.wal_bytes,
    nats_messages: few.nats_messages,
  }
}

/** Chooses cells, replicas and processors for a rate, and simulates one cell. */
function plan(rate) {
  const postgres = rate * cost.postgres
  const walBytes = rate * cost.wal_bytes
  const cells = Math.max(
    Math.ceil(postgres / 1_000 / UTILIZATION / CELL_CORES),
    Math.ceil(walBytes / 1e6 / CELL_WAL_MB),
  )
  const cellRate = rate / cells
  const replicasOf = (name) => cores(cellRate * VISITS[name] * cost[name])
  const services = Object.fromEntries(Object.keys(VISITS).map((name) => [name, replicasOf(name)]))
  const stations = { ...services, postgres: cores(cellRate * cost.postgres) }
  const { latencies, utilization, commits } = simulate({ rate: cellRate, stations, cost })
  const used = Object.fromEntries(
    Object.entries(utilization).map(([name, value]) => [`${name} used`, value]),
  )
  return {
    ...{ rate, cells, ...stations, ...used, commits },
    p50_ms: percentile(latencies, 50),
    p99_ms: percentile(latencies, 99),
    'WAL MB/s': (cellRate * cost.wal_bytes) / 1e6,
    'NATS messages/s': Math.round(cellRate * cost.nats_messages),
  }
}

/** Two at least, for the loss of one. */
function cores(msPerSecond) {
  return Math.max(2, Math.ceil(msPerSecond / 1_000 / UTILIZATION))
}
