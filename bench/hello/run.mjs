// Throughput of one Python worker: hello-world over HTTP, synchronous, at 1, 8 and 32 in flight.
//   npm run bench -- hello            (SECONDS=10 a point)
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { measure, printFigures } from '../lib/measure.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { helloWorld, upload } from '../lib/workflows.mjs'

const SECONDS = Number(process.env.SECONDS ?? 10)
const WARM_SECONDS = 3
const IN_FLIGHT = [1, 8, 32]

const points = await withSystem({ workers: 1 }, async ({ url, pids }) => {
  await upload(url, 'hello_world')
  const client = new Client(url)
  const run = () => helloWorld(client)
  await closedLoop(run, { inFlight: 8, seconds: WARM_SECONDS })
  const measured = []
  for (const inFlight of IN_FLIGHT)
    measured.push({
      in_flight: inFlight,
      ...(await measure(pids, () => closedLoop(run, { inFlight, seconds: SECONDS }))),
    })
  client.close()
  return measured
})

printFigures(points)
process.stdout.write(`\n${JSON.stringify({ bench: 'hello', machine: machine(), points })}\n`)
