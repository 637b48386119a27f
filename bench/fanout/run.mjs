// Cost of many readers of one execution: a thousand tasks, sent to a hundred event streams.
//   npm run bench -- fanout           (TASKS=1000, READERS=100, PER_CHECKPOINT=1)
import { readFileSync } from 'node:fs'
import { cpuSeconds, perOperation } from '../lib/cpu.mjs'
import { Client } from '../lib/http.mjs'
import { percentile } from '../lib/load.mjs'
import { residentMiB } from '../lib/memory.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { checkpoint, event, registerWorker } from '../lib/worker.mjs'
import { upload } from '../lib/workflows.mjs'

const TASKS = Number(process.env.TASKS ?? 1_000)
const READERS = Number(process.env.READERS ?? 100)
const PER_CHECKPOINT = Number(process.env.PER_CHECKPOINT ?? 1)

const point = await withSystem({ workers: 0 }, async ({ url, pids, home }) => {
  const client = new Client(url)
  await upload(url, 'hello_world')
  const bootstrap = readFileSync(`${home}/bootstrap-token`, 'utf8').trim()
  const work = await claimedWork(client, bootstrap)
  const sentAt = new Map()
  const delays = []
  const readers = await Promise.all(
    Array.from({ length: READERS }, () => follow(client, work.id, sentAt, delays)),
  )
  const before = cpuSeconds(pids)
  const begun = performance.now()
  for (let n = 0; n < TASKS; n += PER_CHECKPOINT) {
    const events = []
    for (let i = n; i < Math.min(TASKS, n + PER_CHECKPOINT); i++) {
      sentAt.set(`t_${i}`, performance.now())
      events.push(event('TASK_COMPLETED', `t_${i}`, `{"n":${i}}`))
    }
    await work.report('RUNNING', events)
  }
  await work.report('COMPLETED', [event('WORKFLOW_COMPLETED', 'hello_world', '"done"')], '"done"')
  const counts = await Promise.all(readers.map(({ ended }) => ended))
  const seconds = (performance.now() - begun) / 1_000
  const cpu = perOperation(before, cpuSeconds(pids), TASKS)
  work.close()
  client.close()
  if (counts.some((count) => count !== TASKS)) throw new Error(`readers saw ${new Set(counts)}`)
  const [p50, p95, p99] = [50, 95, 99].map((p) => percentile(delays, p))
  return {
    tasks: TASKS,
    readers: READERS,
    tasks_per_second: TASKS / seconds,
    frames_per_second: (TASKS * READERS) / seconds,
    delay: { p50, p95, p99 },
    cpu,
    mebibytes: residentMiB(pids),
  }
})

const { cpu, mebibytes, delay, ...row } = point
table([{ ...row, 'delay p50': delay.p50, p95: delay.p95, p99: delay.p99 }])
table([{ 'CPU-ms per task': TASKS, ...cpu }])
table([{ 'MiB resident': '', ...mebibytes }])
table([machine()])
process.stdout.write(`\n${JSON.stringify({ bench: 'fanout', machine: machine(), point })}\n`)

/** Starts one execution and claims it with a worker that this script controls. */
async function claimedWork(client, bootstrap) {
  const { post, connect } = await registerWorker(client, { name: 'fanout', bootstrap, slots: 1 })
  const dispatched = deferred()
  const close = await connect({
    ping: () => void post('pong', '{"healthy":true}'),
    execution_scheduled: (data) => dispatched.resolve(JSON.parse(data).context),
  })
  await client.request('POST', '/workflows/default/hello_world/run/async', { body: '"World"' })
  const context = await dispatched.promise
  const claim = await post(`claim/${context.execution_id}`)
  const fence = { 'x-svc-claim-generation': claim.headers['x-svc-claim-generation'] }
  const report = async (state, events, output = 'null') => {
    const body = checkpoint(context, { state, events, output })
    const answer = await post(`checkpoint/${context.execution_id}`, body, fence)
    if (answer.status !== 200) throw new Error(`checkpoint: ${answer.status} ${answer.text}`)
  }
  return { id: context.execution_id, report, close }
}

function deferred() {
  let resolve
  const promise = new Promise((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Opens one reader; `ended` resolves with the number of tasks that it received, in order. */
async function follow(client, id, sentAt, delays) {
  const ended = deferred()
  let seen = 0
  await client.stream('GET', `/executions/${id}/events`, {
    onFrame(name, data) {
      if (name !== 'task_completed') return
      const { source_id } = JSON.parse(data)
      if (source_id !== `t_${seen++}`) throw new Error(`${source_id} out of order`)
      delays.push(performance.now() - sentAt.get(source_id))
    },
    onEnd: () => ended.resolve(seen),
  })
  return { ended: ended.promise }
}
