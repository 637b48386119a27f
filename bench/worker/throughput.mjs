import { readFileSync } from 'node:fs'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { measure } from '../lib/measure.mjs'
import { withSystem } from '../lib/system.mjs'
import { uploadSource } from '../lib/workflows.mjs'
import { startWorker } from './start-worker.mjs'

const SECONDS = Number(process.env.SECONDS ?? 4)
const TURNS = Number(process.env.TURNS ?? 3)
const WARM_SECONDS = 3
const TASKS = 100

const WORKLOADS = [
  { workflow: 'hello', inFlight: 32, input: 'World' },
  { workflow: 'hello_printed', inFlight: 32, input: 'World' },
  { workflow: 'hundred', inFlight: 8, steps: TASKS },
  { workflow: 'large', inFlight: 1, input: { megabytes: 1 } },
]

export const source = () => readFileSync(new URL('workflows.py', import.meta.url), 'utf8')

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** Runs a workflow synchronously; throws unless it completes. */
export async function run(client, workflow, input = null) {
  const path = `/workflows/default/${workflow}/run/sync`
  const { status, text } = await client.request('POST', path, { body: JSON.stringify(input) })
  if (status !== 200 || !text.includes('"COMPLETED"')) throw new Error(`${status} ${text}`)
}

/**
 * Executions per second and CPU of a worker without and with children. One worker runs at a time, in turns: two would
 * share the executions.
 */
export const throughput = () =>
  withSystem({ workers: 0 }, async (system) => {
    const points = new Map()
    const client = new Client(system.url)
    await uploadSource(system.url, source())
    for (let turn = 0; turn < TURNS; turn++)
      for (const children of [0, 2]) {
        const name = `worker-${turn}-${children}`
        const options = ['--children', children, '--max-concurrent', 64]
        const worker = await startWorker(system, name, options)
        for (const load of WORKLOADS) {
          const row = `${load.workflow}, ${load.inFlight} in flight, ${children} children`
          const point = await measureLoad(client, worker.pid, load)
          points.set(row, [...(points.get(row) ?? []), point])
        }
        await system.processes.stop(worker)
      }
    client.close()
    return [...points].flatMap(([row, measured]) => toRows(row, measured))
  })

async function measureLoad(client, pid, { workflow, inFlight, input, steps = 1 }) {
  const operation = () => run(client, workflow, input)
  await closedLoop(operation, { inFlight, seconds: WARM_SECONDS })
  const { per_second, cpu } = await measure({ worker: pid }, () =>
    closedLoop(operation, { inFlight, seconds: SECONDS }),
  )
  const [unit, factor] = steps === 1 ? ['executions', 1] : ['tasks', steps]
  return {
    [`${unit}/s`]: per_second * factor,
    [`CPU-ms of the worker, ${unit}`]: cpu.worker / factor,
  }
}

const toRows = (row, measured) =>
  Object.keys(measured[0]).map((figure) => ({
    row,
    figure,
    value: median(measured.map((one) => one[figure])),
  }))
