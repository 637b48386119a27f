// Cost of traces and of metrics: hello-world on one Python worker with neither, with metrics (the default), and with
// metrics and all executions traced. The systems run at the same time and are loaded in turns, because the speed
// of a machine varies; CPU depends on other load less than throughput does.
//   npm run bench -- tracing          (SECONDS=4 a turn, TURNS=5, IN_FLIGHT=1,32)
import { createServer } from 'node:http'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { measure } from '../lib/measure.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { helloWorld, upload } from '../lib/workflows.mjs'

const SECONDS = Number(process.env.SECONDS ?? 4)
const TURNS = Number(process.env.TURNS ?? 5)
const IN_FLIGHT = (process.env.IN_FLIGHT ?? '1,32').split(',').map(Number)
const WARM_SECONDS = 8
const STORES = ['postgres', 'nats', 'redis']

const receiver = createServer((req, res) => {
  req.resume().once('end', () => res.end())
})
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const endpoint = `http://127.0.0.1:${receiver.address().port}`

const variants = {
  neither: { SVC_ADMIN__METRICS: 'false' },
  metrics: {},
  traces: { SVC_TELEMETRY__OTLP_ENDPOINT: endpoint, SVC_WORKER__OTLP_ENDPOINT: endpoint },
}

/** Starts a system for each variant; processes inherit the variables of this one. */
async function withAll([[name, env], ...rest], systems, work) {
  Object.assign(process.env, env)
  return withSystem({ workers: 1 }, async (system) => {
    for (const key of Object.keys(env)) delete process.env[key]
    const all = { ...systems, [name]: system }
    return rest.length === 0 ? work(all) : withAll(rest, all, work)
  })
}

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0)
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
const cpuOf = ({ cpu }, isCounted) =>
  sum(Object.keys(cpu).flatMap((name) => (isCounted(name) ? cpu[name] : [])))
const isSystem = (name) => name !== 'load generator'
const isWorker = (name) => name.startsWith('worker')
const isService = (name) => isSystem(name) && !isWorker(name) && !STORES.includes(name)

const rows = await withAll(Object.entries(variants), {}, async (systems) => {
  const clients = new Map()
  for (const [name, { url }] of Object.entries(systems)) {
    await upload(url, 'hello_world')
    clients.set(name, new Client(url))
    await closedLoop(() => helloWorld(clients.get(name)), { inFlight: 16, seconds: WARM_SECONDS })
  }
  const found = []
  for (const inFlight of IN_FLIGHT) {
    const points = Object.fromEntries(Object.keys(systems).map((name) => [name, []]))
    for (let turn = 0; turn < TURNS; turn++)
      for (const [name, { pids }] of Object.entries(systems)) {
        const load = () => helloWorld(clients.get(name))
        points[name].push(
          await measure(pids, () => closedLoop(load, { inFlight, seconds: SECONDS })),
        )
      }
    for (const [name, turns] of Object.entries(points))
      found.push({
        in_flight: inFlight,
        with: name,
        per_second: median(turns.map((one) => one.per_second)),
        p50: median(turns.map((one) => one.p50)),
        'CPU-ms system': median(turns.map((one) => cpuOf(one, isSystem))),
        'CPU-ms services': median(turns.map((one) => cpuOf(one, isService))),
        'CPU-ms worker': median(turns.map((one) => cpuOf(one, isWorker))),
      })
  }
  for (const client of clients.values()) client.close()
  return found
})
receiver.close()

table(rows)
process.stdout.write(`\n${JSON.stringify({ bench: 'tracing', machine: machine(), rows })}\n`)
