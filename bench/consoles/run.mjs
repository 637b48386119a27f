// Throughput of the gateway while consoles are open: hello-world with scripted workers, without consoles and with
// them, in turns.
//   npm run bench -- consoles         (CONSOLES=50, SECONDS=10 a turn, TURNS=5, IN_FLIGHT=32, SCREEN=home|executions|stream, SETTLE=3, RATE=n)
// A console here sends the requests of the page, by the page's own clock of requests, and reads the stream of lists;
// it draws nothing. Consoles run in a process of their own, since browsers run on other machines. `ratio` is the median
// of the ratios of the turns with consoles to those without; `server's part` is the processor time that the consoles
// cost the server, of that of the machine. With RATE, so many executions a second are started instead of as many as possible.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { Client } from '../lib/http.mjs'
import { closedLoop, pacedLoop } from '../lib/load.mjs'
import { measure } from '../lib/measure.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { scriptedWorkers } from '../lib/worker.mjs'
import { helloWorld, upload } from '../lib/workflows.mjs'

const CONSOLES = Number(process.env.CONSOLES ?? 50)
const SECONDS = Number(process.env.SECONDS ?? 10)
const TURNS = Number(process.env.TURNS ?? 5)
const IN_FLIGHT = Number(process.env.IN_FLIGHT ?? 32)
const RATE = Number(process.env.RATE ?? 0)
const SCREENS = process.env.SCREEN ? [process.env.SCREEN] : ['home', 'executions']
const WARM_SECONDS = 12
/** After consoles were opened or closed. */
const SETTLE_SECONDS = Number(process.env.SETTLE ?? 3)

/** Processes that are not the server. */
const CLIENTS = ['consoles', 'load generator']

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

const rows = await withSystem({ workers: 0 }, async ({ url, pids, home }) => {
  const client = new Client(url)
  await upload(url, 'hello_world')
  const workers = await scriptedWorkers(client, home, { count: 4, slots: 128 })
  const consoles = startConsoles()
  const run = () => helloWorld(client)
  const load = RATE > 0 ? (seconds) => paced(run, seconds) : (seconds) => closed(run, seconds)
  await load(WARM_SECONDS)
  const turns = { without: [], with: [] }
  for (let turn = 0; turn < TURNS; turn++)
    for (const kind of turn % 2 ? ['with', 'without'] : ['without', 'with']) {
      const open = kind === 'with' ? CONSOLES : 0
      const all = { ...pids, consoles: consoles.pid }
      turns[kind].push(await measureTurn({ url, pids: all, load, consoles, open }))
    }
  for (const { close } of workers) close()
  consoles.stop()
  client.close()
  return rowsOf(turns)
})

table(rows.map(({ cpu, ...row }) => row))
table(rows.map(({ consoles, cpu }) => ({ 'CPU-ms/s': consoles, ...cpu })))
table([{ consoles: CONSOLES, screens: SCREENS.join(), load: os.loadavg()[0], ...machine() }])
process.stdout.write(`\n${JSON.stringify({ bench: 'consoles', machine: machine(), rows })}\n`)

function closed(run, seconds) {
  return closedLoop(run, { inFlight: IN_FLIGHT, seconds })
}

async function paced(run, seconds) {
  const latencies = []
  const timed = async () => {
    const begun = performance.now()
    await run()
    latencies.push(performance.now() - begun)
  }
  const { count } = await pacedLoop(timed, { rate: RATE, maxInFlight: 4 * IN_FLIGHT, seconds })
  return { count, seconds, latencies }
}

/** Starts the process of the consoles; `ask` sends it a message and returns its counts. */
function startConsoles() {
  const child = fork(fileURLToPath(new URL('clients.mjs', import.meta.url)))
  const ask = async (message) => {
    const answered = once(child, 'message')
    child.send(message)
    const [{ counts, error }] = await answered
    if (error) throw new Error(error)
    return counts
  }
  return { pid: child.pid, ask, stop: () => child.disconnect() }
}

/** Measures the load while so many consoles are open, which share the screens. */
async function measureTurn({ url, pids, load, consoles, open }) {
  if (open > 0) await consoles.ask({ kind: 'open', open, url, screens: SCREENS })
  await load(SETTLE_SECONDS)
  const before = await consoles.ask({ kind: 'count' })
  const point = await measure(pids, () => load(SECONDS))
  const after = await consoles.ask({ kind: 'close' })
  const perSecond = (name) => (after[name] - before[name]) / SECONDS
  const cpu = Object.entries(point.cpu).map(([name, ms]) => [name, ms * point.per_second])
  return {
    ...point,
    ...{ requests: perSecond('requests'), repeated: perSecond('repeated') },
    frames: perSecond('frames'),
    cpuEach: point.cpu,
    cpu: Object.fromEntries(cpu),
  }
}

function rowsOf(turns) {
  return Object.entries(turns).map(([kind, points]) => {
    const of = (read) => median(points.map(read))
    const without = (i) => turns.without[i]
    return {
      consoles: kind,
      per_second: of((point) => point.per_second),
      ratio: median(points.map(({ per_second }, i) => per_second / without(i).per_second)),
      "server's part": median(points.map((point, i) => partOf(point, without(i)))),
      p50: of((point) => point.p50),
      p95: of((point) => point.p95),
      'console requests/s': of((point) => point.requests),
      'answers given again/s': of((point) => point.repeated),
      'frames/s': of((point) => point.frames),
      cpu: Object.fromEntries(
        Object.keys(points[0].cpu).map((name) => [name, of((point) => point.cpu[name])]),
      ),
    }
  })
}

/** The processor time that consoles cost the server, as a part of that of the machine. */
function partOf(point, without) {
  const more = serverMs(point) - serverMs(without)
  return (more * point.per_second) / (1_000 * os.cpus().length)
}

/** CPU-ms of the server for each execution. */
function serverMs({ cpuEach }) {
  const ofServer = Object.entries(cpuEach).filter(([name]) => !CLIENTS.includes(name))
  return ofServer.reduce((sum, [, ms]) => sum + ms, 0)
}
