// Times of synchronous runs with large inputs and outputs, and of long logs, with one Python worker.
//   npm run bench -- large            (REPEAT=5, MIB=1,4,8,15.9, EVENTS=1000,10000,50000)
import { Client } from '../lib/http.mjs'
import { percentile } from '../lib/load.mjs'
import { residentMiB } from '../lib/memory.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { uploadSource } from '../lib/workflows.mjs'

const REPEAT = Number(process.env.REPEAT ?? 5)
const SIZES_MIB = (process.env.MIB ?? '1,4,8,15.9').split(',').map(Number)
const LOGS = (process.env.EVENTS ?? '1000,10000,50000').split(',').map(Number)
const MEBIBYTE = 1_048_576
/** Tasks of a log that run at a time: their events share checkpoints. */
const WIDTH = 100
const EVENTS_OF_A_TASK = 2

const SOURCE = `
import asyncio
from windlass import ExecutionContext, task, workflow

@task
async def step(n: int):
    return n

@workflow
async def small(ctx: ExecutionContext):
    return 1

@workflow
async def takes(ctx: ExecutionContext):
    return len(ctx.input)

@workflow
async def gives(ctx: ExecutionContext):
    return "x" * ctx.input

@workflow
async def echoes(ctx: ExecutionContext):
    return ctx.input

@workflow
async def writes(ctx: ExecutionContext):
    for start in range(0, ctx.input, ${WIDTH}):
        await asyncio.gather(*(step(n) for n in range(start, min(start + ${WIDTH}, ctx.input))))
    return ctx.input
`

const { payloads, logs, memory } = await withSystem({ workers: 1 }, async ({ url, pids }) => {
  await uploadSource(url, SOURCE)
  const client = new Client(url)
  // The first runs import the workflow and compile the hot paths.
  for (let i = 0; i < 20; i++) await run(client, 'echoes', '1')
  const result = { payloads: [], logs: [] }
  for (const mib of SIZES_MIB) result.payloads.push(await timePayloads(client, mib))
  for (const events of LOGS) result.logs.push(await timeLog(client, events))
  client.close()
  return { ...result, memory: residentMiB(pids) }
})

table(payloads)
table(logs)
table([memory])
const figures = { bench: 'large', machine: machine(), payloads, logs, memory }
process.stdout.write(`\n${JSON.stringify(figures)}\n`)

/** Medians and maxima, in ms, of runs whose input, output or both have this size. */
async function timePayloads(client, mib) {
  const chars = Math.floor(mib * MEBIBYTE) - '""'.length
  const text = JSON.stringify('x'.repeat(chars))
  const row = { MiB: mib }
  for (const [kind, workflow, input] of [
    ['input', 'takes', text],
    ['output', 'gives', String(chars)],
    ['both', 'echoes', text],
  ]) {
    const times = []
    for (let i = 0; i < REPEAT; i++) times.push(await timed(() => run(client, workflow, input)))
    row[`${kind} p50`] = percentile(times, 50)
    row[`${kind} max`] = Math.max(...times)
  }
  // A small run meanwhile shows whether large ones stop others.
  const others = []
  let isDone = false
  const large = run(client, 'echoes', text).finally(() => {
    isDone = true
  })
  while (!isDone) others.push(await timed(() => run(client, 'small', 'null')))
  await large
  row['small run meanwhile, max'] = Math.max(...others)
  return row
}

/** Times, in ms, of a run with so many events of tasks, and of reading its log. */
async function timeLog(client, events) {
  let id = ''
  const tasks = Math.floor(events / EVENTS_OF_A_TASK)
  const written = await timed(async () => {
    id = (await run(client, 'writes', String(tasks))).execution_id
  })
  const path = `/executions/${id}`
  const summary = await timed(() => get(client, path))
  let bytes = 0
  const whole = await timed(async () => {
    bytes = (await get(client, `${path}?detailed=true`)).length
  })
  const streamed = await timed(() => followEvents(client, `${path}/events?detailed=true`))
  return { events, 'run, sync': written, summary, 'whole log': whole, bytes, streamed }
}

/** Reads an event stream to its end. */
function followEvents(client, path) {
  return new Promise((resolve, reject) => {
    client.stream('GET', path, { onFrame: () => {}, onEnd: () => resolve(undefined) }).catch(reject)
  })
}

async function run(client, workflow, input) {
  const path = `/workflows/default/${workflow}/run/sync`
  const { status, text } = await client.request('POST', path, { body: input })
  const answer = status === 200 ? JSON.parse(text) : undefined
  if (answer?.state !== 'COMPLETED') throw new Error(`${workflow}: ${status} ${text.slice(0, 500)}`)
  return answer
}

async function get(client, path) {
  const { status, text } = await client.request('GET', path)
  if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 500)}`)
  return text
}

async function timed(operation) {
  const begun = performance.now()
  await operation()
  return Math.round(performance.now() - begun)
}
