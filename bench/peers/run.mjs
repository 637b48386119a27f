// Windlass compared with Restate, DBOS and Temporal: the same work items, durable settings, load in turns.
//   npm run bench -- peers            (SECONDS=3 a turn, TURNS=3, IN_FLIGHT=1,8,32,64; PEERS=Restate,DBOS,Temporal)
// Windlass runs twice: with a process for each service, and with all of them in one process.
// The SDKs and Restate's server are installed from package registries into the data directory. Temporal's
// development server is built there with Go, unless it is on the PATH or in TEMPORAL_CLI.

import { measure } from '../lib/measure.mjs'
import { table } from '../lib/report.mjs'
import { traceCalls } from '../lib/strace.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { startDbos } from './dbos.mjs'
import { guarded } from './guard.mjs'
import { installPeers } from './install.mjs'
import { startRestate } from './restate.mjs'
import { startTemporal } from './temporal.mjs'
import { startWindlass } from './windlass.mjs'

const SECONDS = Number(process.env.SECONDS ?? 3)
const TURNS = Number(process.env.TURNS ?? 3)
const IN_FLIGHT = (process.env.IN_FLIGHT ?? '1,8,32,64').split(',').map(Number)
const WARM_SECONDS = 5
const TRACED_SECONDS = 10
const GENERATOR = 'load generator'
const PEERS = (process.env.PEERS ?? 'Restate,DBOS,Temporal').split(',')
const STARTS = {
  Windlass: startWindlass,
  'Windlass, one process': ({ single }) => startWindlass(single),
  Restate: startRestate,
  DBOS: startDbos,
  Temporal: startTemporal,
}

const sum = (numbers) => Object.values(numbers).reduce((total, each) => total + each, 0)
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** Starts all peers that can be started here; the reasons of the others go to `missing`. */
async function startAll(system) {
  const tools = installPeers()
  const started = []
  const missing = []
  for (const [name, start] of Object.entries(STARTS)) {
    if (!name.startsWith('Windlass') && !PEERS.includes(name)) continue
    try {
      started.push({ name, ...(await start({ ...system, tools })) })
    } catch (error) {
      missing.push({ peer: name, 'left out, because': error.message.split('\n')[0] })
    }
  }
  return { started, missing }
}

/** Runs one part of the measurement of a peer; a peer that fails is closed and named with the reason. */
async function orLeave({ started, missing }, peer, run) {
  try {
    await run()
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    started.splice(started.indexOf(peer), 1)
    missing.push({ peer: peer.name, 'left out, because': error.message.split('\n')[0] })
    peer.close()
  }
}

/** Loads each peer that still works in turns; one that fails is left out from then on. */
async function compare(field, { work, inFlight }) {
  const points = new Map(field.started.map((peer) => [peer, []]))
  const load = { work, inFlight, seconds: SECONDS }
  for (let turn = 0; turn < TURNS; turn++)
    for (const peer of [...field.started])
      await orLeave(field, peer, async () =>
        points.get(peer).push(await measure(peer.pids, () => guarded(peer, load))),
      )
  return field.started.map((peer) => {
    const turns = points.get(peer)
    return {
      work,
      in_flight: inFlight,
      peer: peer.name,
      per_second: median(turns.map((one) => one.per_second)),
      p50: median(turns.map((one) => one.p50)),
      p99: median(turns.map((one) => one.p99)),
      'CPU-ms each': median(turns.map(({ cpu }) => sum(cpu) - cpu[GENERATOR])),
    }
  })
}

/** Counts fsync and fdatasync of each execution at one in flight; of writes that are durable at once, none. */
async function countFlushes(peer) {
  let count = 0
  const calls = await traceCalls(peer.pids, async () => {
    const load = { work: 'hello', inFlight: 1, seconds: TRACED_SECONDS }
    count = (await guarded(peer, load)).count
  })
  const flushes = calls.filter(({ name }) => /^f(data)?sync$/.test(name)).length
  return { peer: peer.name, 'flushes each': flushes / count, executions: count }
}

/** Starts both forms of Windlass; answers what `work` answers. */
const withBoth = (work) =>
  withSystem({ workers: 1, singleProcess: false }, (system) =>
    withSystem({ workers: 1, singleProcess: true }, (single) => work({ ...system, single })),
  )

const figures = await withBoth(async (system) => {
  const field = await startAll(system)
  const versions = field.started.map(({ name, version }) => ({ peer: name, version }))
  const each = async (run) => {
    for (const peer of [...field.started]) await orLeave(field, peer, () => run(peer))
  }
  for (const work of ['hello', 'steps'])
    await each((peer) => guarded(peer, { work, inFlight: 16, seconds: WARM_SECONDS }))
  const rows = []
  for (const inFlight of IN_FLIGHT)
    rows.push(...(await compare(field, { work: 'hello', inFlight })))
  for (const inFlight of IN_FLIGHT.filter((n) => n === 8 || n === 64))
    rows.push(...(await compare(field, { work: 'steps', inFlight })))
  const flushes = []
  await each(async (peer) => flushes.push(await countFlushes(peer)))
  for (const peer of field.started) peer.close()
  return { versions, missing: field.missing, rows, flushes }
})

for (const rows of [figures.versions, figures.missing, figures.rows, figures.flushes])
  if (rows.length > 0) table(rows)
process.stdout.write(`\n${JSON.stringify({ bench: 'peers', machine: machine(), ...figures })}\n`)
