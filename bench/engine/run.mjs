// Throughput of the server: hello-world with scripted workers over the real protocol.
//   npm run bench -- engine           (SECONDS=10 a point, WORKERS=4, IN_FLIGHT=1,8,64,256)
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
/** Long enough for Node to compile the functions, as in a server that has been running for a while. */
const WARM_SECONDS = 12

const points = await withSystem({ workers: 0 }, async ({ url, pids, home }) => {
  const client = new Client(url)
  await upload(url, 'hello_world')
  const workers = await scriptedWorkers(client, home, { count: WORKERS, slots: SLOTS })
  const run = () => helloWorld(client)
  await closedLoop(run, { inFlight: 16, seconds: WARM_SECONDS })
  const measured = []
  for (const inFlight of IN_FLIGHT)
    measured.push({
      in_flight: inFlight,
      ...(await measure(pids, () => closedLoop(run, { inFlight, seconds: SECONDS }))),
    })
  for (const { close } of workers) close()
  client.close()
  return measured
})

printFigures(points)
table([{ workers: WORKERS, ...machine() }])
process.stdout.write(`\n${JSON.stringify({ bench: 'engine', machine: machine(), points })}\n`)
