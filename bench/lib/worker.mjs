import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import os from 'node:os'

const GENERATION = 'x-svc-claim-generation'

/** Registers a worker. Returns `post` for its routes and `connect` for its stream, with a handler per event. */
export async function registerWorker(client, { name, bootstrap, slots, labels = {}, features }) {
  const answer = await client.request('POST', '/workers/register', {
    body: JSON.stringify({ ...workerRecord(name, slots, labels), features }),
    headers: { authorization: `Bearer ${bootstrap}` },
  })
  if (answer.status !== 200) throw new Error(`register: ${answer.status} ${answer.text}`)
  const authorization = `Bearer ${JSON.parse(answer.text).session_token}`
  const path = `/workers/${name}`
  return {
    post: (route, body, headers = {}) =>
      client.request('POST', `${path}/${route}`, { body, headers: { authorization, ...headers } }),
    connect: (handlers) =>
      client.stream('GET', `${path}/connect`, {
        headers: { authorization },
        onFrame: (event, data) => handlers[event]?.(data),
      }),
  }
}

/**
 * Connects a worker that speaks the real protocol and runs no code, so a benchmark measures the server, not Python. It
 * runs up to `slots` executions at a time, each of which writes `lines`. It claims, reports one task, and reports the end, as a worker does that announces
 * no features. With the feature `claim_by_delivery` it sends all of this in one checkpoint, as the Python worker does for
 * a short execution.
 */
export async function scriptedWorker(client, { lines = 0, ...options }) {
  const { post, connect } = await registerWorker(client, options)
  const counts = { done: 0, lost: 0 }
  const close = await connect({
    ping: () => void post('pong', '{"healthy":true}').catch(() => {}),
    execution_scheduled: (data) =>
      void perform(post, data, lines).then(
        () => counts.done++,
        () => counts.lost++,
      ),
  })
  return { counts, close }
}

async function perform(post, data, lines) {
  const { context, claim } = JSON.parse(data)
  const id = context.execution_id
  const fence = { [GENERATION]: claim?.generation ?? (await claimOf(post, id)) }
  const source = `say_hello_${id.slice(-8)}`
  const report = async (state, events, output = 'null') => {
    const body = checkpoint(context, { state, events, output })
    const answer = await post(`checkpoint/${id}`, body, fence)
    if (answer.status !== 200) throw new Error(`checkpoint: ${answer.status} ${answer.text}`)
  }
  const begun = [
    event('WORKFLOW_STARTED', context.workflow_name, 'null'),
    event('TASK_STARTED', source, '{"name":"World"}'),
    event('TASK_COMPLETED', source, '"Hello, World"'),
  ]
  const ended = [event('WORKFLOW_COMPLETED', context.workflow_name, '"Hello, World"')]
  if (!claim) await report('RUNNING', begun)
  if (lines > 0) {
    const answer = await post(`logs/${id}`, capturedLines(lines), fence)
    if (answer.status !== 200) throw new Error(`lines: ${answer.status} ${answer.text}`)
  }
  await report('COMPLETED', claim ? [...begun, ...ended] : ended, '"Hello, World"')
}

/** Claims an execution and returns the generation. */
async function claimOf(post, id) {
  const claim = await post(`claim/${id}`)
  if (claim.status !== 200) throw new Error(`claim: ${claim.status} ${claim.text}`)
  return claim.headers[GENERATION]
}

/** Builds the JSON text of an event; `value` is JSON text. */
export const event = (type, source_id, value) =>
  `{"id":"${randomBytes(8).toString('hex')}","type":"${type}","source_id":"${source_id}","name":"say_hello","value":${value},"time":"2026-01-02T03:04:05.000006","subject":null}`

/** Builds the JSON text of lines that the code of a workflow wrote. */
const capturedLines = (count) =>
  JSON.stringify({
    first: 0,
    lines: Array.from({ length: count }, (_, i) => ({
      ...{ task_id: '', task_name: '', level: 20, logger: 'stdout' },
      ...{ message: `line ${i} ${'x'.repeat(72)}`, time: '2026-01-02T03:04:05.006Z' },
    })),
  })

/** Builds the JSON text of a checkpoint. */
export const checkpoint = (context, { state, events, output }) =>
  `{"workflow_id":"${context.workflow_id}","workflow_namespace":"${context.workflow_namespace}",` +
  `"workflow_name":"${context.workflow_name}","execution_id":"${context.execution_id}",` +
  `"input":null,"output":${output},"state":"${state}","current_worker":"","events":[${events.join(',')}]}`

/** A list of the size of a typical Python environment. */
const PACKAGES = Array.from({ length: 100 }, (_, i) => ({
  name: `package-${i}`,
  version: `1.${i}.0`,
}))

/** Builds the record with which a worker registers. */
export const workerRecord = (name, slots, labels) => ({
  name,
  runtime: { os_name: os.type(), os_version: os.release(), python_version: '3.12.1' },
  packages: PACKAGES,
  resources: {
    cpu_total: 8,
    cpu_available: 8,
    memory_total: 2 ** 33,
    memory_available: 2 ** 33,
    disk_total: 2 ** 40,
    disk_free: 2 ** 40,
    gpus: [],
  },
  labels,
  max_concurrent_executions: slots,
  runners: ['inprocess'],
})

/** Connects `count` scripted workers to the system whose data directory is `home`. */
export function scriptedWorkers(client, home, { count, slots, features }) {
  const bootstrap = readFileSync(`${home}/bootstrap-token`, 'utf8').trim()
  return Promise.all(
    Array.from({ length: count }, (_, i) =>
      scriptedWorker(client, { name: `scripted-${i}`, bootstrap, slots, features }),
    ),
  )
}
