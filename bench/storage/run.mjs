// Bytes that an execution leaves: tables, indexes, write-ahead log, the share of heap-only updates, and which indexed
// columns its updates change.
//   npm run bench -- storage           (SECONDS=20, IN_FLIGHT=64; WORKER=python: one Python worker)
import { readFileSync } from 'node:fs'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { sizeReader } from '../lib/sizes.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { watchUpdates } from '../lib/update-causes.mjs'
import { scriptedWorker } from '../lib/worker.mjs'
import { helloWorld, upload } from '../lib/workflows.mjs'

const SECONDS = Number(process.env.SECONDS ?? 20)
const IN_FLIGHT = Number(process.env.IN_FLIGHT ?? 64)
const SHOWN_INDEXES = 16
const WATCHED_SECONDS = 5
const isPython = process.env.WORKER === 'python'

const figures = await withSystem({ workers: isPython ? 1 : 0 }, async ({ url, home, infra }) => {
  const client = new Client(url)
  await upload(url, 'hello_world')
  const bootstrap = readFileSync(`${home}/bootstrap-token`, 'utf8').trim()
  const options = { name: 'scripted', bootstrap, slots: 256 }
  const worker = isPython ? undefined : await scriptedWorker(client, options)
  const sizes = await sizeReader(infra.postgres.url)
  const before = await sizes.read({ isSettled: true })
  const load = { inFlight: IN_FLIGHT, seconds: SECONDS }
  const { count } = await closedLoop(() => helloWorld(client), load)
  const after = await sizes.read({ isSettled: true })
  await sizes.close()
  const updates = await watchUpdates(infra.postgres.url)
  const watched = await closedLoop(() => helloWorld(client), { ...load, seconds: WATCHED_SECONDS })
  const causes = (await updates.read()).map((one) => ({
    ...one,
    updates: one.updates / watched.count,
  }))
  worker?.close()
  client.close()
  return { count, before, after, causes }
})

const { count, before, after, causes } = figures
const earlier = (list, name) => list.find((one) => one.name === name) ?? {}
const growth = (list, { name, ...now }, key) => now[key] - (earlier(list, name)[key] ?? 0)

const tables = after.tables.map((one) => {
  const updated = growth(before.tables, one, 'updated')
  return {
    table: one.name,
    rows: growth(before.tables, one, 'rows') / count,
    indexes: growth(before.tables, one, 'indexes') / count,
    inserted: growth(before.tables, one, 'inserted') / count,
    updated: updated / count,
    hot_percent: updated > 0 ? (100 * growth(before.tables, one, 'hot')) / updated : 0,
  }
})
const indexes = after.indexes.slice(0, SHOWN_INDEXES).map((one) => ({
  index: one.name,
  bytes: growth(before.indexes, one, 'bytes') / count,
  scans: growth(before.indexes, one, 'scans') / count,
}))
const sum = (key) => tables.reduce((total, row) => total + row[key], 0)
const totals = {
  executions: count,
  rows: sum('rows'),
  indexes: sum('indexes'),
  bytes: sum('rows') + sum('indexes'),
  wal: (after.wal - before.wal) / count,
}
process.stdout.write('\nBytes and row changes of each execution.\n')
table(tables)
table(indexes)
table([totals])
process.stdout.write(
  '\nUpdates of the row of each execution, and the indexed columns that they change.\n',
)
table(causes)
process.stdout.write(
  `\n${JSON.stringify({ bench: 'storage', machine: machine(), totals, tables, indexes, causes })}\n`,
)
