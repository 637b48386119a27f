// Does each search of a million executions keep its time? Fills the database, then measures every filter of
// `GET /executions` (cases.mjs), for an administrator and for callers that may read one namespace, and the
// statistics of the console. Exits with 1 if the p95 of a search is above the budget.
//   npm run bench -- search           (STORED=1000000, REQUESTS=40 of each, IN_FLIGHT=1, ONLY=text in names)
// A search above the budget is measured again, up to twice, since other load on the machine may be the cause: `turns`
// says how often, and the figures are those of the last turn.
import { randomBytes } from 'node:crypto'
import os from 'node:os'
import { adminKey, environmentOf } from '../lib/admin.mjs'
import { Client } from '../lib/http.mjs'
import { percentile } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { RESTRICTED, SEARCHES, STATISTICS } from './cases.mjs'
import { SMALL_NAMESPACE, store } from './stored.mjs'

const BUDGET_MS = 150
const STORED = Number(process.env.STORED ?? 1_000_000)
const REQUESTS = Number(process.env.REQUESTS ?? 40)
const IN_FLIGHT = Number(process.env.IN_FLIGHT ?? 1)
const ONLY = process.env.ONLY ?? ''
const WARM_REQUESTS = 3
const MAX_TURNS = 3
/** A slow search is measured with fewer requests. */
const MAX_CASE_MS = 12_000
const MIN_REQUESTS = 8

Object.assign(process.env, {
  SVC_SECURITY__AUTH__ENABLED: 'true',
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: randomBytes(32).toString('hex'),
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: randomBytes(32).toString('hex'),
})

const { rows, filled } = await withSystem({ workers: 0 }, async ({ url, pids, infra }) => {
  const began = performance.now()
  await store(infra.postgres.url, STORED, (count) => note(`${count} executions are stored`))
  const filled = Math.round((performance.now() - began) / 1_000)
  const client = new Client(url)
  const root = await adminKey(environmentOf(pids.identity))
  const keys = {
    all: root,
    'half of them': await keyOfReader(client, root, 'default'),
    'a thousandth': await keyOfReader(client, root, SMALL_NAMESPACE),
  }
  const rows = []
  for (const { caller, cases } of [
    { caller: 'all', cases: SEARCHES },
    { caller: 'half of them', cases: RESTRICTED },
    { caller: 'a thousandth', cases: RESTRICTED },
    { caller: 'all', cases: STATISTICS },
  ])
    for (const one of cases.filter(({ name }) => name.includes(ONLY))) {
      rows.push({ 'may read': caller, ...(await measureCase(client, keys[caller], one)) })
      note(`${rows.length} measured`)
    }
  client.close()
  return { rows, filled }
})

table(rows.map(({ isSearch, ...row }) => ({ ...row, '': row.p95 > BUDGET_MS ? 'above' : '' })))
const searches = rows.filter(({ isSearch }) => isSearch)
const above = searches.filter(({ p95 }) => p95 > BUDGET_MS)
table([{ stored: STORED, 'filled in, s': filled, in_flight: IN_FLIGHT, load: os.loadavg()[0] }])
process.stdout.write(
  `\n${JSON.stringify({ bench: 'search', machine: machine(), budget_ms: BUDGET_MS, rows })}\n` +
    `\n${searches.length} searches, ${above.length} with a p95 above ${BUDGET_MS} ms` +
    `${above.map((row) => `\n  ${row.search} (may read: ${row['may read']}): ${row.p95.toFixed(0)} ms`).join('')}\n`,
)
process.exitCode = above.length > 0 ? 1 : 0

function note(text) {
  process.stderr.write(`\r${text.padEnd(40)}`)
}

/** Creates a principal that may read the executions of one namespace; returns its key. */
async function keyOfReader(client, root, namespace) {
  const create = async (path, body) => {
    const headers = { authorization: `Bearer ${root}` }
    const { status, text } = await client.request('POST', path, {
      body: JSON.stringify(body),
      headers,
    })
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
    return JSON.parse(text)
  }
  const name = `reader-${namespace}`
  await create('/admin/roles', { name, permissions: [`execution:${namespace}:*:read`] })
  await create('/admin/principals', { type: 'service_account', subject: name, roles: [name] })
  return (await create(`/admin/principals/${name}/keys`, { name: 'bench' })).key
}

/** Measures one case until it is within the budget, or often enough to say that it is not. */
async function measureCase(client, key, one) {
  const read = await reader(client, key, one)
  for (let i = 0; i < WARM_REQUESTS; i++) await read()
  const isSearch = !STATISTICS.includes(one)
  let turns = 0
  let figures
  do {
    figures = await measureTurn(read)
    turns++
  } while (isSearch && figures.p95 > BUDGET_MS && turns < MAX_TURNS)
  return { search: one.name, ...figures, turns, isSearch }
}

async function measureTurn(read) {
  const latencies = []
  let answer
  const began = performance.now()
  const isDone = () =>
    latencies.length >= REQUESTS ||
    (latencies.length >= MIN_REQUESTS && performance.now() - began > MAX_CASE_MS)
  const one = async () => {
    while (!isDone()) {
      const at = performance.now()
      answer = await read()
      latencies.push(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, one))
  const [p50, p95] = [50, 95].map((p) => percentile(latencies, p))
  const { executions = [], total = '', total_exact: isExact = true } = answer
  return { rows: executions.length, total: `${isExact ? '' : '>'}${total}`, p50, p95 }
}

/** Returns a function that sends the request of a case. */
async function reader(client, key, { path, query, startsAt }) {
  const headers = { authorization: `Bearer ${key}` }
  const get = async (parameters) => {
    const { status, text } = await client.request(
      'GET',
      `${path}?${new URLSearchParams(parameters)}`,
      { headers },
    )
    if (status !== 200) throw new Error(`${path} ${JSON.stringify(parameters)}: ${status} ${text}`)
    return JSON.parse(text)
  }
  if (!startsAt) return () => get(query())
  const { next_cursor: cursor } = await get({ ...startsAt, limit: '1' })
  return () => get({ ...query(), cursor })
}
