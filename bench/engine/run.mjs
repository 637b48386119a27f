// Throughput of the server: hello-world with scripted workers over the real protocol: with workers that claim and send
// each checkpoint alone, and with workers that announce `claim_by_delivery` and send one checkpoint.
//   npm run bench -- engine           (SECONDS=10 a point, WORKERS=4, IN_FLIGHT=1,8,64,256, SINGLE=1)
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { measure, printFigures } from '../lib/measure.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { scriptedWorkers } from '../lib/worker.mjs'
import { helloWorld, upload } from '../lib/workflows.mjs'

const SECONDS = Number(process.env.SECONDS ?? 10)
const WORKERS = Number(process.env.WORKERS ?? 4)
const IN_FLIGHT = (process.env.IN_FLIGHT ?? '1,8,64,256').split(',').map(Number)
const SLOTS = 128
const PROTOCOLS = { claims: undefined, delivery: ['claim_by_delivery'] }
/** Long enough for Node to compile the functions, as in a server that has been running for a while. */
const WARM_SECONDS = 12

const points = await withSystem({ workers: 0 }, async ({ url, pids, home }) => {
  const client = new Client(url)
  await upload(url, 'hello_world')
  const run = () => helloWorld(client)
  const measured = []
  for (const [protocol, features] of Object.entries(PROTOCOLS)) {
    const workers = await scriptedWorkers(client, home, { count: WORKERS, slots: SLOTS, features })
    await closedLoop(run, { inFlight: 16, seconds: WARM_SECONDS })
    for (const inFlight of IN_FLIGHT)
      measured.push({
        protocol,
        in_flight: inFlight,
        ...(await measure(pids, () => closedLoop(run, { inFlight, seconds: SECONDS }))),
      })
    for (const { close } of workers) close()
  }
  client.close()
  return measured
})

printFigures(points)
table([{ workers: WORKERS, ...machine() }])
process.stdout.write(`\n${JSON.stringify({ bench: 'engine', machine: machine(), points })}\n`)
