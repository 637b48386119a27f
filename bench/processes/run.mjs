// All services in one process compared with a process for each: time to start, memory when idle, and
// hello-world on one Python worker at 1, 32 and 64 in flight. Both systems run at the same time and are
// loaded in turns, because the speed of a machine varies.
//   npm run bench -- processes        (SECONDS=4 a turn, TURNS=3)
import { setTimeout as sleep } from 'node:timers/promises'
import { written } from '../../scripts/process/logs.ts'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { measure } from '../lib/measure.mjs'
import { residentMiB } from '../lib/memory.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { helloWorld, upload } from '../lib/workflows.mjs'

const SECONDS = Number(process.env.SECONDS ?? 4)
const TURNS = Number(process.env.TURNS ?? 3)
const WARM_SECONDS = 6
const IDLE_MS = 10_000
const START_LIMIT_MS = 60_000
const IN_FLIGHT = [1, 32, 64]
const STORES = ['postgres', 'nats', 'redis']
const isService = (name) => !STORES.includes(name) && !name.startsWith('worker')

/** Starts both systems; answers what `work` answers. */
const withBoth = (work) =>
  withSystem({ workers: 1, singleProcess: false }, (separate) =>
    withSystem({ workers: 1, singleProcess: true }, (single) => work({ separate, single })),
  )

/** Restarts the services; returns the milliseconds until the last one serves. */
async function restart({ processes, children, pids }) {
  const services = children.filter(({ name }) => isService(name))
  await Promise.all(services.map((child) => processes.stop(child)))
  const begun = performance.now()
  const started = services.map(({ program }) => processes.start(program))
  const isUp = (child) => () => /"msg":"started"/.test(written(child))
  await Promise.all(
    started.map((child) => processes.untilReady(child, isUp(child), START_LIMIT_MS)),
  )
  const ms = performance.now() - begun
  for (const child of started) {
    children[children.findIndex(({ name }) => name === child.name)] = child
    pids[child.name] = child.pid
  }
  return ms
}

const servicesOf = (pids) => Object.fromEntries(Object.entries(pids).filter(([n]) => isService(n)))
const sum = (numbers) => Object.values(numbers).reduce((total, each) => total + each, 0)
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

async function inTurns(systems, load) {
  const points = Object.fromEntries(Object.keys(systems).map((name) => [name, []]))
  for (let turn = 0; turn < TURNS; turn++)
    for (const [name, system] of Object.entries(systems)) points[name].push(await load(system))
  return points
}

const results = await withBoth(async (systems) => {
  const starts = await inTurns(systems, restart)
  await sleep(IDLE_MS)
  const idle = Object.entries(systems).map(([name, { pids }]) => [
    name,
    sum(residentMiB(servicesOf(pids))),
  ])
  const clients = new Map()
  for (const system of Object.values(systems)) {
    await upload(system.url, 'hello_world')
    const client = new Client(system.url)
    clients.set(system, client)
    await closedLoop(() => helloWorld(client), { inFlight: 16, seconds: WARM_SECONDS })
  }
  const rows = []
  for (const inFlight of IN_FLIGHT) {
    const points = await inTurns(systems, (system) =>
      measure(system.pids, () =>
        closedLoop(() => helloWorld(clients.get(system)), { inFlight, seconds: SECONDS }),
      ),
    )
    for (const [name, measured] of Object.entries(points)) {
      const { pids } = systems[name]
      rows.push({
        in_flight: inFlight,
        processes: name,
        per_second: median(measured.map((one) => one.per_second)),
        p50: median(measured.map((one) => one.p50)),
        p99: median(measured.map((one) => one.p99)),
        'CPU-ms system': median(measured.map(({ cpu }) => sum(cpu) - (cpu['load generator'] ?? 0))),
        'CPU-ms services': median(
          measured.map(({ cpu }) => sum(Object.keys(servicesOf(pids)).map((one) => cpu[one]))),
        ),
        'MiB services': sum(residentMiB(servicesOf(pids))),
      })
    }
  }
  for (const client of clients.values()) client.close()
  return {
    start: Object.entries(starts).map(([name, ms]) => ({
      processes: name,
      'start ms': median(ms),
      'idle MiB': Object.fromEntries(idle)[name],
    })),
    rows,
  }
})

table(results.start)
table(results.rows)
process.stdout.write(
  `\n${JSON.stringify({ bench: 'processes', machine: machine(), ...results })}\n`,
)
