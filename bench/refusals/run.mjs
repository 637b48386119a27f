// Cost of a refusal: for every declared route of the gateway and four callers, the CPU time of the
// gateway's event loop and of its whole process for a request with the largest body. Exits with 1 if a
// refusal takes more than 50 ms of the event loop.
//   npm run bench -- refusals         (REPEAT=3 requests of each kind)
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { routes } from '../../services/gateway/src/routes/index.ts'
import { adminKey, environmentOf } from '../lib/admin.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'

const REPEAT = Number(process.env.REPEAT ?? 3)
const MAX_MS = 50
const IDLE_MS = 3_000
const MEBIBYTE = 1_048_576
/** A worker's report may have four payloads of 16 MiB and 1 MiB. */
const REPORT_BYTES = 65 * MEBIBYTE
const BODY_BYTES = 16 * MEBIBYTE
/** Many small values, the most expensive JSON for its size; it does not end, so no handler starts. */
const body = Buffer.alloc(REPORT_BYTES, '[').fill('[],', 1)

/** Status and cost of a refusal; only the status of another answer. */
function shown(row) {
  return row.status >= 400 ? `${row.status} ${row['event loop, ms'].toFixed(1)}` : `${row.status}`
}

/** Everything in a namespace of its own. */
const TENANT_PERMISSIONS = ['workflow:other:*', 'execution:other:*', 'schedule:other:*']

Object.assign(process.env, {
  SVC_SECURITY__AUTH__ENABLED: 'true',
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: randomBytes(32).toString('hex'),
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: randomBytes(32).toString('hex'),
})

/** All of them, pages of the console included: a route cannot be served without its declaration. */
const operations = routes.map(({ method, path }) => ({ method: method.toUpperCase(), path }))

const rows = await withSystem({ workers: 0 }, async ({ url, pids }) => {
  const root = await adminKey(environmentOf(pids.identity))
  const api = apiOf(url, root)
  const callers = {
    anonymous: undefined,
    'no permissions': await keyWith(api, 'poor', []),
    'other tenant': await keyWith(api, 'tenant', TENANT_PERMISSIONS),
    'administrator, malformed body': root,
  }
  await upload(url, root)
  const idle = await idleRate(pids.gateway)
  // The first requests start the body threads and compile the hot paths.
  for (const key of Object.values(callers))
    await measure(url, { ...operations[0], key }, pids.gateway)
  const measured = []
  for (const operation of operations)
    for (const [caller, key] of Object.entries(callers)) {
      const { status, loop, all, ms } = await measure(url, { ...operation, key }, pids.gateway)
      const use = (total, share) => Math.max(0, (total - share * ms) / REPEAT)
      measured.push({
        operation: `${operation.method} ${operation.path}`,
        caller,
        status,
        'event loop, ms': use(loop, idle.loop),
        'process, ms': use(all, idle.all),
      })
    }
  return measured
})

const refusals = rows.filter(({ status }) => status >= 400)
table(
  operations
    .map(({ method, path }) => rows.filter(({ operation }) => operation === `${method} ${path}`))
    .map((cells) => ({
      operation: cells[0].operation,
      ...Object.fromEntries(cells.map((cell) => [cell.caller, shown(cell)])),
    })),
)
const costOf = (row) => row['event loop, ms']
const summary = [...new Set(refusals.map(({ caller }) => caller))].map((caller) => {
  const own = refusals.filter((row) => row.caller === caller)
  const sorted = own.map(costOf).sort((a, b) => a - b)
  const worst = own.find((row) => costOf(row) === sorted.at(-1))
  return {
    caller,
    refusals: own.length,
    'p50, ms': sorted[sorted.length >> 1],
    'max, ms': sorted.at(-1),
    'max of the process, ms': Math.max(...own.map((row) => row['process, ms'])),
    worst: worst.operation,
  }
})
table(summary)
const tooExpensive = refusals.filter((row) => costOf(row) > MAX_MS)
if (tooExpensive.length > 0) {
  table(tooExpensive)
  process.exitCode = 1
}
process.stdout.write(`\n${JSON.stringify({ bench: 'refusals', machine: machine(), rows })}\n`)

async function measure(url, { method, path, key }, pid) {
  const before = cpuOf(pid)
  const begun = performance.now()
  let status = 0
  for (let i = 0; i < REPEAT; i++) status = await send(url, { method, path, key })
  // Discarding the rest of a body may outlast the response.
  await sleep(20)
  const after = cpuOf(pid)
  const ms = performance.now() - begun
  return { status, loop: after.loop - before.loop, all: after.all - before.all, ms }
}

/** Sends the whole body; resolves to the status once body and response are complete, or the connection ends. */
function send(url, { method, path, key }) {
  const isUpload = path === '/workflows' && method === 'POST'
  const isReport = /\/(checkpoint|progress)\//.test(path)
  const sent = body.subarray(0, isReport ? REPORT_BYTES : BODY_BYTES)
  const headers = {
    'content-type': isUpload ? 'multipart/form-data; boundary=x' : 'application/json',
    'content-length': sent.length,
    ...(key && { authorization: `Bearer ${key}` }),
  }
  return new Promise((resolve) => {
    let status = 0
    const outgoing = request(
      url + pathOf(method, path),
      { method, headers, agent: false },
      (response) => {
        status = response.statusCode
        // Only refusals are measured, and an event stream would not end.
        if (status < 400) outgoing.destroy()
        else response.resume()
      },
    )
    outgoing.on('error', () => {})
    outgoing.once('close', () => resolve(status))
    outgoing.setTimeout(30_000, () => outgoing.destroy())
    outgoing.end(sent)
  })
}

/** Fills a path with objects that exist where a caller may be refused for them; deletes nothing. */
function pathOf(method, path) {
  const values =
    method === 'DELETE'
      ? {}
      : {
          namespace: 'team',
          workflow_name: 'report',
          mode: 'async',
          version: '1',
          a: '1',
          b: '1',
        }
  return path.replaceAll(/{(\w+)}/g, (_, name) => values[name] ?? '0'.repeat(32))
}

/** CPU time so far in ms: of the main thread, which is the event loop, and of all threads (schedstat). */
function cpuOf(pid) {
  const ofThread = (thread) => {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')
      return Number(stat.split(' ')[0]) / 1e6
    } catch {
      return 0
    }
  }
  const threads = readdirSync(`/proc/${pid}/task`)
  return {
    loop: ofThread(pid),
    all: threads.reduce((sum, thread) => sum + ofThread(thread), 0),
  }
}

/** Use of an idle gateway, as a share of the time. */
async function idleRate(pid) {
  const before = cpuOf(pid)
  await sleep(IDLE_MS)
  const after = cpuOf(pid)
  return { loop: (after.loop - before.loop) / IDLE_MS, all: (after.all - before.all) / IDLE_MS }
}

function apiOf(url, key) {
  return async (path, content) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(content),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
}

/** Creates a service account with these permissions; returns its key. */
async function keyWith(api, subject, permissions) {
  await api('/admin/roles', { name: `${subject}-role`, permissions })
  const roles = permissions.length > 0 ? [`${subject}-role`] : []
  await api('/admin/principals', { type: 'service_account', subject, roles })
  const { key } = await api(`/admin/principals/${subject}/keys`, { name: 'bench' })
  return key
}

async function upload(url, key) {
  const form = new FormData()
  const source =
    'from windlass import workflow, ExecutionContext\n\n@workflow.with_options(namespace="team")\nasync def report(ctx: ExecutionContext):\n    return 1\n'
  form.append('file', new Blob([source]))
  const response = await fetch(`${url}/workflows`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  })
  if (!response.ok) throw new Error(`upload: ${response.status} ${await response.text()}`)
}
