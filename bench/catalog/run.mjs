// Cost of a large upload, and its effect on concurrent requests.
//   npm run bench -- catalog          (SECONDS=10 a point)
import { readFileSync } from 'node:fs'
import { Client } from '../lib/http.mjs'
import { closedLoop, percentile } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { upload } from '../lib/workflows.mjs'

const SECONDS = Number(process.env.SECONDS ?? 10)
const MEBIBYTE = 1_048_576

/** Makes each source unique: the catalog caches the analysis of a source. */
let made = 0
const KINDS = {
  'small source': () => source(1),
  '1 MiB of tasks': () => source(MEBIBYTE),
  '1 MiB, refused for its memory use': () => `${source(1)}x = ${'-'.repeat(MEBIBYTE - 500)}1\n`,
}

const points = await withSystem({ workers: 0 }, async ({ url, pids }) => {
  const client = new Client(url)
  await upload(url, 'hello_world')
  const path = '/workflows/default/hello_world/run/async'
  const { execution_id } = JSON.parse((await client.request('POST', path, { body: '"x"' })).text)
  const status = () => client.request('GET', `/executions/${execution_id}`)
  await closedLoop(status, { inFlight: 4, seconds: 2 })
  const rows = [
    { upload: 'none', ...(await statusReads(status)), memory_mib: memory(pids.catalog) },
  ]
  for (const [kind, text] of Object.entries(KINDS)) {
    for (let i = 0; i < 3; i++) await send(url, text())
    const [dry, stored] = [await times(url, text, '?dry_run=true'), await times(url, text, '')]
    let stop = false
    const uploading = (async () => {
      while (!stop) await send(url, text(), '?dry_run=true')
    })()
    const meanwhile = await statusReads(status)
    stop = true
    await uploading
    rows.push({
      upload: kind,
      ...meanwhile,
      analysed_p50: percentile(dry, 50),
      analysed_max: Math.max(...dry),
      stored_p50: percentile(stored, 50),
      memory_mib: memory(pids.catalog),
    })
  }
  client.close()
  return rows
})

/** Measures status reads, two at a time, during other work; in ms. */
async function statusReads(status) {
  const { count, seconds, latencies } = await closedLoop(status, { inFlight: 2, seconds: SECONDS })
  const [status_p50, status_p99] = [50, 99].map((p) => percentile(latencies, p))
  return { status_per_second: count / seconds, status_p50, status_p99 }
}

/** Measures sequential uploads, in ms. */
async function times(url, text, query) {
  const taken = []
  for (let i = 0; i < 10; i++) {
    const begun = performance.now()
    await send(url, text(), query)
    taken.push(performance.now() - begun)
  }
  return taken
}

async function send(url, text, query = '') {
  const form = new FormData()
  form.append('file', new Blob([text]), 'workflow.py')
  const response = await fetch(`${url}/workflows${query}`, { method: 'POST', body: form })
  await response.arrayBuffer()
  if (response.status !== 200 && response.status !== 400) throw new Error(`${response.status}`)
}

function source(bytes) {
  const head = `# ${made++}\nfrom windlass import task, workflow\n`
  const tasks = []
  for (let size = 5_000; size < bytes; size += tasks.at(-1).length)
    tasks.push(
      `@task.with_options(secret_requests=["s"])\nasync def task_${tasks.length}(a, b):\n    """Adds."""\n    return await helper(a, [b, 1], {"key": b})\n\n`,
    )
  const calls = tasks.length > 0 ? tasks.map((_, i) => `    await task_${i}(1, 2)\n`) : []
  const body = calls.slice(0, 100).join('')
  return `${head}${tasks.join('')}@workflow\nasync def large(ctx):\n${body}    return 1\n`
}

/** Returns the resident memory of a process in MiB. */
function memory(pid) {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1_024)
}

table(points.map((point) => ({ analysed_p50: '-', analysed_max: '-', stored_p50: '-', ...point })))
process.stdout.write(`\n${JSON.stringify({ bench: 'catalog', machine: machine(), points })}\n`)
