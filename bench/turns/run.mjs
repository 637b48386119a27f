// Checkouts compared on one Python worker. All systems run at the same time and are loaded in turns, because the speed
// of a machine varies.
//   TREES=<checkout>,<checkout> npm run bench -- turns     (SECONDS=3 a turn, TURNS=5, IN_FLIGHT=1,32)
// `WORK=` names the work: `hello`, one step; `sequential`, ten steps; `parallel`, a hundred. With SINGLE=1 all services
// of a checkout run in one process; with SINGLE=both this checkout runs in both forms.
// This checkout is the last one. CPU is the median of the turns, with the lowest and highest; `ratio` is the median
// of the ratios of CPU to the first checkout in the same round of turns, `rate` that of executions/s.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { PROJECT } from '../../scripts/bootstrap/data-dir.mjs'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { measure } from '../lib/measure.mjs'
import { table } from '../lib/report.mjs'
import { machine } from '../lib/system.mjs'
import { chosenWork } from '../lib/workflows.mjs'

const SECONDS = Number(process.env.SECONDS ?? 3)
const TURNS = Number(process.env.TURNS ?? 5)
const IN_FLIGHT = (process.env.IN_FLIGHT ?? '1,32').split(',').map(Number)
const WORK = chosenWork()
const TREES = [...(process.env.TREES ?? '').split(',').filter(Boolean), PROJECT]
const BOTH = process.env.SINGLE === 'both'
const FORMS = [
  ...TREES.map((tree) => ({ tree, single: process.env.SINGLE === '1' })),
  ...(BOTH ? [{ tree: PROJECT, single: true }] : []),
]
const WARM_SECONDS = 8
const GENERATOR = 'load generator'

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
const sum = (numbers) => Object.values(numbers).reduce((total, each) => total + each, 0)

/** Starts the system of a checkout with its own scripts; rejects if it ends before. */
async function start({ tree, single }) {
  const child = fork(new URL('system.mjs', import.meta.url), [tree, String(single)], {
    cwd: tree,
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the system of ${tree} ended with ${code}`)
  })
  ended.catch(() => {})
  const [{ url, pids }] = await Promise.race([once(child, 'message'), ended])
  await WORK.prepare(url)
  const client = new Client(url)
  return {
    name: BOTH && single ? `${path.basename(tree)}, one process` : path.basename(tree),
    pids,
    load: (options) => Promise.race([closedLoop(() => WORK.run(client), options), ended]),
    async stop() {
      client.close()
      child.disconnect()
      await ended.catch(() => {})
    },
  }
}

/** Loads each system in each turn, beginning with another one each time. */
async function inTurns(systems, inFlight) {
  const points = new Map(systems.map((system) => [system, []]))
  for (let turn = 0; turn < TURNS; turn++)
    for (let i = 0; i < systems.length; i++) {
      const system = systems[(turn + i) % systems.length]
      const load = () => system.load({ inFlight, seconds: SECONDS })
      points.get(system).push(await measure(system.pids, load))
    }
  return points
}

const total = ({ cpu }) => sum(cpu) - cpu[GENERATOR]

function rowsOf(points, inFlight) {
  const [first] = points.values()
  return [...points].map(([{ name }, turns]) => {
    const all = turns.map(total)
    const names = Object.keys(turns[0].cpu)
    return {
      in_flight: inFlight,
      checkout: name,
      ratio: median(turns.map((turn, i) => total(turn) / total(first[i]))),
      rate: median(turns.map((turn, i) => turn.per_second / first[i].per_second)),
      'CPU-ms': median(all),
      lowest: Math.min(...all),
      highest: Math.max(...all),
      per_second: median(turns.map((turn) => turn.per_second)),
      p50: median(turns.map((turn) => turn.p50)),
      ...Object.fromEntries(names.map((one) => [one, median(turns.map(({ cpu }) => cpu[one]))])),
    }
  })
}

const systems = []
const rows = []
try {
  for (const form of FORMS) systems.push(await start(form))
  for (const { load } of systems) await load({ inFlight: 16, seconds: WARM_SECONDS })
  for (const inFlight of IN_FLIGHT) {
    const found = rowsOf(await inTurns(systems, inFlight), inFlight)
    table(found)
    rows.push(...found)
  }
} finally {
  for (const system of systems) await system.stop()
}
process.stdout.write(
  `\n${JSON.stringify({ bench: 'turns', work: WORK.name, machine: machine(), rows })}\n`,
)
