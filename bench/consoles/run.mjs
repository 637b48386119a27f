// Throughput of the gateway while consoles are open: hello-world with scripted workers, without consoles and with
// them, in turns.
//   npm run bench -- consoles         (CONSOLES=50, SECONDS=10 a turn, TURNS=5, IN_FLIGHT=32, SCREEN=home|executions|stream, SETTLE=3)
// A console here sends the requests of the page, by the page's own clock of requests, and reads the stream of lists;
// it draws nothing. `ratio` is the median of the ratios of the turns with consoles to those without.
import os from 'node:os'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { measure } from '../lib/measure.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { scriptedWorkers } from '../lib/worker.mjs'
import { helloWorld, upload } from '../lib/workflows.mjs'
import { openConsole } from './console.mjs'

const CONSOLES = Number(process.env.CONSOLES ?? 50)
const SECONDS = Number(process.env.SECONDS ?? 10)
const TURNS = Number(process.env.TURNS ?? 5)
const IN_FLIGHT = Number(process.env.IN_FLIGHT ?? 32)
const SCREENS = process.env.SCREEN ? [process.env.SCREEN] : ['home', 'executions']
const WARM_SECONDS = 12
/** After consoles were opened or closed. */
const SETTLE_SECONDS = Number(process.env.SETTLE ?? 3)

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

const rows = await withSystem({ workers: 0 }, async ({ url, pids, home }) => {
  const client = new Client(url)
  await upload(url, 'hello_world')
  const workers = await scriptedWorkers(client, home, { count: 4, slots: 128 })
  const run = () => helloWorld(client)
  const load = (seconds) => closedLoop(run, { inFlight: IN_FLIGHT, seconds })
  await load(WARM_SECONDS)
  const turns = { without: [], with: [] }
  for (let turn = 0; turn < TURNS; turn++)
    for (const kind of turn % 2 ? ['with', 'without'] : ['without', 'with']) {
      const open = kind === 'with' ? CONSOLES : 0
      turns[kind].push(await measureTurn({ url, pids, load, open }))
    }
  for (const { close } of workers) close()
  client.close()
  return rowsOf(turns)
})

table(rows)
table([{ consoles: CONSOLES, screens: SCREENS.join(), load: os.loadavg()[0], ...machine() }])
process.stdout.write(`\n${JSON.stringify({ bench: 'consoles', machine: machine(), rows })}\n`)

/** Measures the load while so many consoles are open, which share the screens. */
async function measureTurn({ url, pids, load, open }) {
  const counts = { requests: 0, frames: 0 }
  const closes = await Promise.all(
    Array.from({ length: open }, (_, i) => openConsole(url, SCREENS[i % SCREENS.length], counts)),
  )
  await load(SETTLE_SECONDS)
  const before = { ...counts }
  const point = await measure(pids, () => load(SECONDS))
  for (const close of closes) close()
  return {
    ...point,
    requests: (counts.requests - before.requests) / SECONDS,
    frames: (counts.frames - before.frames) / SECONDS,
  }
}

function rowsOf(turns) {
  return Object.entries(turns).map(([kind, points]) => {
    const of = (read) => median(points.map(read))
    return {
      consoles: kind,
      per_second: of((point) => point.per_second),
      ratio: median(points.map(({ per_second }, i) => per_second / turns.without[i].per_second)),
      p50: of((point) => point.p50),
      p95: of((point) => point.p95),
      'console requests/s': of((point) => point.requests),
      'frames/s': of((point) => point.frames),
      ...Object.fromEntries(
        ['gateway', 'executions', 'postgres', 'nats', 'load generator'].map((name) => [
          `${name}, CPU-ms`,
          of((point) => point.cpu[name]),
        ]),
      ),
    }
  })
}
