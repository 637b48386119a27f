// Sizes and memory over time, under a steady load with retention, partitions of the log and captured lines:
//   npm run test:soak -- 30 soak.csv        (minutes; file; RATE=25 executions/s, KEPT_SECONDS=720)
// The samples go to the file as they are taken, and at the end to a plot with its name (soak.svg). The last lines are a
// table for docs/retention.md. Three quarters of the executions have the general age, so their logs are dropped with their
// partition, and the newest of them are kept: as many as start in KEPT_SECONDS. The others have an age of their own,
// OWN_AGE_SECONDS, so their logs are deleted row by row. Fails if, after the first third, tables or the memory of a
// service still grow, if no partition was dropped, or if the log or the lines of an ended execution are incomplete.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { Client } from '../lib/http.mjs'
import { pacedLoop } from '../lib/load.mjs'
import { residentMiB } from '../lib/memory.mjs'
import { sizeReader, totalBytes } from '../lib/sizes.mjs'
import { withSystem } from '../lib/system.mjs'
import { scriptedWorker } from '../lib/worker.mjs'
import { runSync, upload, uploadSource } from '../lib/workflows.mjs'
import { readPartitions, shortenPartitions } from './partitions.mjs'
import { plotSamples } from './plot.mjs'
import { report } from './report.mjs'

const [minutes = '30', file] = process.argv.slice(2)
const MINUTES = Number(minutes)
if (!(MINUTES > 0)) throw new Error(`minutes are ${minutes}; expected a number above 0`)
const RATE = Number(process.env.RATE ?? 25)
/** Ten minutes after its last use a partition may be dropped; executions that are deleted before lose their logs row by row. */
const KEPT_SECONDS = Number(process.env.KEPT_SECONDS ?? 720)
const OWN_AGE_SECONDS = 60
const PARTITION_SECONDS = 90
const MAX_IN_FLIGHT = 16
/** One execution of so many has an age of its own. */
const OWN_AGE_EVERY = 4
const LINES = 5
const SWEEP_SECONDS = 5
const SAMPLES = Math.max(6, Math.min(180, Math.round(MINUTES * 6)))
const SECOND_MS = 1_000
const MEBIBYTE = 2 ** 20
const SHORT_LIVED = `
from windlass import ExecutionContext, workflow


@workflow
async def short_lived(ctx: ExecutionContext[str]) -> str:
    return ctx.input
`

Object.assign(process.env, {
  SVC_RETENTION__ENABLED: 'true',
  SVC_RETENTION__WORKFLOWS: `default/short_lived=${OWN_AGE_SECONDS / 86_400}`,
  SVC_RETENTION__MAX_EXECUTIONS: String(
    Math.round(RATE * (KEPT_SECONDS + (OWN_AGE_SECONDS - KEPT_SECONDS) / OWN_AGE_EVERY)),
  ),
  SVC_RETENTION__SWEEP_INTERVAL: String(SWEEP_SECONDS),
})

const { samples, executions } = await withSystem({ workers: 0 }, soak)
if (file !== undefined) writeFileSync(file.replace(/(\.csv)?$/, '.svg'), plotSamples(samples))
report(samples, { minutes: MINUTES, rate: RATE, executions })

async function soak({ url, home, infra, pids }) {
  const client = new Client(url)
  await upload(url, 'hello_world')
  await uploadSource(url, SHORT_LIVED)
  const bootstrap = readFileSync(`${home}/bootstrap-token`, 'utf8').trim()
  const worker = await scriptedWorker(client, {
    ...{ name: 'scripted', bootstrap, slots: 64, lines: LINES },
  })
  const stopShortening = shortenPartitions(infra.postgres.url, PARTITION_SECONDS)
  const sizes = await sizeReader(infra.postgres.url)
  const stored = []
  const sampling = (async () => {
    const start = performance.now()
    for (let i = 1; i <= SAMPLES; i++) {
      const due = start + (i / SAMPLES) * MINUTES * 60 * SECOND_MS
      await new Promise((resolve) => setTimeout(resolve, due - performance.now()))
      const seconds = (performance.now() - start) / SECOND_MS
      const partitions = await readPartitions(infra.postgres.url, LINES)
      stored.push({ ...sampleOf(seconds, await sizes.read(), pids), ...partitions })
      write(stored)
    }
  })()
  const run = (n) =>
    runSync(client, n % OWN_AGE_EVERY === 0 ? 'short_lived' : 'hello_world', '"World"')
  const load = { rate: RATE, maxInFlight: MAX_IN_FLIGHT, seconds: MINUTES * 60 }
  const [{ count }] = await Promise.all([pacedLoop(run, load), sampling])
  await stopShortening()
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
    captured_lines_mib: sizeOf('captured_lines'),
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
