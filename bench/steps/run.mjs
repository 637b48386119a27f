// Executions of many steps on one Python worker, synchronous: ten steps in sequence, and a hundred in parallel.
//   npm run bench -- steps            (SECONDS=10 a point, SINGLE=1)
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { measure, printFigures } from '../lib/measure.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { KINDS, runSync } from '../lib/workflows.mjs'

const SECONDS = Number(process.env.SECONDS ?? 10)
const WARM_SECONDS = 3
const POINTS = [
  { workflow: 'sequential_steps', steps: 10, in_flight: 8 },
  { workflow: 'sequential_steps', steps: 10, in_flight: 64 },
  { workflow: 'parallel_steps', steps: 100, in_flight: 8 },
]

const points = await withSystem({ workers: 1 }, async ({ url, pids }) => {
  await KINDS.sequential.prepare(url)
  const client = new Client(url)
  const measured = []
  for (const { workflow, steps, in_flight } of POINTS) {
    const run = () => runSync(client, workflow, String(steps))
    await closedLoop(run, { inFlight: in_flight, seconds: WARM_SECONDS })
    const load = () => closedLoop(run, { inFlight: in_flight, seconds: SECONDS })
    const point = await measure(pids, load)
    const label = { workflow, steps, in_flight }
    measured.push({ ...label, ...point, steps_per_second: point.per_second * steps })
  }
  client.close()
  return measured
})

printFigures(points)
process.stdout.write(`\n${JSON.stringify({ bench: 'steps', machine: machine(), points })}\n`)
