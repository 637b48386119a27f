// Sizes and memory over time, under a steady load with retention:
//   npm run test:soak -- 30 soak.csv        (minutes; file; IN_FLIGHT=16)
// The samples go to the file as they are taken, and at the end to a plot with its name (soak.svg).
// Executions are deleted a minute after their end. Fails if, after the first third, the tables or the
// memory of a service still grow.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { residentMiB } from '../lib/memory.mjs'
import { table } from '../lib/report.mjs'
import { sizeReader, totalBytes } from '../lib/sizes.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { scriptedWorker } from '../lib/worker.mjs'
import { helloWorld, upload } from '../lib/workflows.mjs'
import { plotSamples } from './plot.mjs'

const [minutes = '30', file] = process.argv.slice(2)
const MINUTES = Number(minutes)
if (!(MINUTES > 0)) throw new Error(`minutes are ${minutes}; expected a number above 0`)
const IN_FLIGHT = Number(process.env.IN_FLIGHT ?? 16)
const KEPT_SECONDS = 60
const SWEEP_SECONDS = 5
const SAMPLES = Math.max(6, Math.min(180, Math.round(MINUTES * 6)))
/** The mean of the last third may exceed that of the second one by this factor. */
const MAX_GROWTH = 1.2
const SECOND_MS = 1_000
const MEBIBYTE = 2 ** 20

Object.assign(process.env, {
  SVC_RETENTION__ENABLED: 'true',
  SVC_RETENTION__RETENTION_DAYS: String(KEPT_SECONDS / 86_400),
  SVC_RETENTION__SWEEP_INTERVAL: String(SWEEP_SECONDS),
})

const { samples, executions } = await withSystem({ workers: 0 }, soak)
if (file !== undefined) writeFileSync(file.replace(/(\.csv)?$/, '.svg'), plotSamples(samples))
report(samples, executions)

async function soak({ url, home, infra, pids }) {
  const client = new Client(url)
  await upload(url, 'hello_world')
  const bootstrap = readFileSync(`${home}/bootstrap-token`, 'utf8').trim()
  const worker = await scriptedWorker(client, { name: 'scripted', bootstrap, slots: 64 })
  const sizes = await sizeReader(infra.postgres.url)
  const stored = []
  const sampling = (async () => {
    const start = performance.now()
    for (let i = 1; i <= SAMPLES; i++) {
      const due = start + (i / SAMPLES) * MINUTES * 60 * SECOND_MS
      await new Promise((resolve) => setTimeout(resolve, due - performance.now()))
      stored.push(sampleOf((performance.now() - start) / SECOND_MS, await sizes.read(), pids))
      write(stored)
    }
  })()
  const load = { inFlight: IN_FLIGHT, seconds: MINUTES * 60 }
  const [{ count }] = await Promise.all([closedLoop(() => helloWorld(client), load), sampling])
  await sizes.close()
  worker.close()
  client.close()
  return { samples: stored, executions: count }
}

function sampleOf(seconds, read, pids) {
  const sizeOf = (name) => {
    // A partitioned table has its rows in tables with its name and a number.
    const found = read.tables.filter((one) => one.name.replace(/_\d+$/, '') === name)
    return found.reduce((sum, { rows, indexes }) => sum + rows + indexes, 0) / MEBIBYTE
  }
  const { live, dead } = read.tables.find(({ name }) => name === 'executions')
  return {
    seconds: Math.round(seconds),
    tables_mib: totalBytes(read) / MEBIBYTE,
    executions_mib: sizeOf('executions'),
    events_mib: sizeOf('events'),
    live,
    dead,
    wal_mib: read.wal / MEBIBYTE,
    ...residentMiB(pids),
  }
}

/** Appends the newest sample to the file; the first one begins it with the names. */
function write(stored) {
  if (file === undefined) return
  const newest = stored.at(-1)
  const line = (values) => `${values.join(',')}\n`
  if (stored.length === 1) writeFileSync(file, line(Object.keys(newest)))
  appendFileSync(file, line(Object.values(newest).map((value) => Math.round(value * 100) / 100)))
}

function report(stored, count) {
  const third = Math.floor(stored.length / 3)
  const mean = (part, key) => part.reduce((sum, one) => sum + one[key], 0) / part.length
  const NOT_COMPARED = new Set(['seconds', 'wal_mib', 'live', 'dead'])
  const rows = Object.keys(stored[0])
    .filter((key) => !NOT_COMPARED.has(key))
    .map((key) => {
      const [second, last] = [stored.slice(third, 2 * third), stored.slice(2 * third)]
      const [before, after] = [mean(second, key), mean(last, key)]
      return {
        MiB: key,
        first: stored[0][key],
        second_third: before,
        last_third: after,
        growth: after / before,
      }
    })
  table(rows)
  process.stdout.write(
    `\n${JSON.stringify({ bench: 'soak', machine: machine(), minutes: MINUTES, executions: count, rows })}\n`,
  )
  const growing = rows.filter(({ growth }) => growth > MAX_GROWTH).map(({ MiB }) => MiB)
  if (growing.length === 0) return
  process.stderr.write(`not steady: ${growing.join(', ')}\n`)
  process.exitCode = 1
}
