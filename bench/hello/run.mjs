// What one Python worker carries: hello-world over HTTP, synchronously, at 1, 8 and 32 in flight.
//   npm run bench -- hello            (SECONDS=10 a point)
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { cpuSeconds, perOperation } from '../lib/cpu.mjs'
import { closedLoop, percentile } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'

const SECONDS = Number(process.env.SECONDS ?? 10)
const WARM_SECONDS = 3
const IN_FLIGHT = [1, 8, 32]

const points = await withSystem({ workers: 1 }, async ({ url, pids }) => {
  await upload(url)
  const agent = new http.Agent({ keepAlive: true, maxSockets: Math.max(...IN_FLIGHT) })
  const run = () => post(`${url}/workflows/default/hello_world/run/sync`, '"World"', agent)
  await closedLoop(run, { inFlight: 8, seconds: WARM_SECONDS })
  const measured = []
  for (const inFlight of IN_FLIGHT) measured.push(await measure(run, { inFlight, pids }))
  agent.destroy()
  return measured
})

async function measure(run, { inFlight, pids }) {
  const named = { ...pids, 'load generator': process.pid }
  const before = own(cpuSeconds(named))
  const { count, seconds, latencies } = await closedLoop(run, { inFlight, seconds: SECONDS })
  const cpu = perOperation(before, own(cpuSeconds(named)), count)
  const [p50, p95, p99] = [50, 95, 99].map((p) => percentile(latencies, p))
  return { in_flight: inFlight, executions: count, per_second: count / seconds, p50, p95, p99, cpu }
}

/** Everything is a child of the load generator: its own share is what is left of the sum. */
function own(cpu) {
  const { 'load generator': all, ...rest } = cpu
  const others = Object.values(rest).reduce((sum, seconds) => sum + seconds, 0)
  return { ...rest, 'load generator': Math.max(0, all - others) }
}

async function upload(url) {
  const form = new FormData()
  form.append('file', new Blob([readFileSync('examples/hello_world.py')]), 'hello_world.py')
  const response = await fetch(`${url}/workflows`, { method: 'POST', body: form })
  if (!response.ok) throw new Error(`upload: ${response.status} ${await response.text()}`)
}

function post(url, body, agent) {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const request = http.request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () =>
        response.statusCode === 200 && text.includes('"COMPLETED"')
          ? resolve()
          : reject(new Error(`${response.statusCode} ${text}`)),
      )
    })
    request.on('error', reject)
    request.end(body)
  })
}

table(points.map(({ cpu, ...row }) => row))
const names = Object.keys(points[0].cpu)
table(
  points.map(({ in_flight, cpu }) => ({
    'CPU-ms per execution, at': in_flight,
    ...Object.fromEntries(names.map((name) => [name, cpu[name]])),
    sum: names.reduce((sum, name) => sum + cpu[name], 0),
  })),
)
process.stdout.write(`\n${JSON.stringify({ bench: 'hello', machine: machine(), points })}\n`)
