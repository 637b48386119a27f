// Where the processor time goes: each service under load on one Python worker, by the sampling profiler of Node, and
// the worker by py-spy, if PYSPY names it.
//   npm run bench -- profile          (IN_FLIGHT=32, SECONDS=8, SERVICES=gateway,executions,dispatcher, TOP=14)
// `WORK=` names the work: `hello`, one step; `sequential`, ten steps; `parallel`, a hundred.
// Shares are those of the time that a process was busy.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { written } from '../../scripts/process/logs.ts'
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { chosenWork } from '../lib/workflows.mjs'
import { categoryOf, sharesOf, sourceOf } from './categories.mjs'
import { inspect } from './inspector.mjs'

const IN_FLIGHT = Number(process.env.IN_FLIGHT ?? 32)
const SECONDS = Number(process.env.SECONDS ?? 8)
const TOP = Number(process.env.TOP ?? 14)
const SERVICES = (process.env.SERVICES ?? 'gateway,executions,dispatcher').split(',')
const { PYSPY } = process.env
const WORK = chosenWork()
const WARM_SECONDS = 8
const INTERVAL_US = 500

// The services inherit it; a port of their own choice each, on loopback.
process.env.NODE_OPTIONS = '--inspect=127.0.0.1:0'

/** Returns the inspector's address, which a service prints at its start; read before a load fills the log. */
function inspectorOf(child) {
  const [url] = /ws:\/\/[\w.:/-]+/.exec(written(child)) ?? []
  if (!url) throw new Error(`${child.name} has no inspector`)
  return url
}

/** Starts to profile a service at its inspector; returns a function that ends it. */
async function profile(url) {
  const inspector = await inspect(url)
  await inspector.send('Profiler.enable')
  await inspector.send('Profiler.setSamplingInterval', { interval: INTERVAL_US })
  await inspector.send('Profiler.start')
  return async () => {
    const { profile: taken } = await inspector.send('Profiler.stop')
    inspector.close()
    return taken
  }
}

/** Samples a Python process; answers `stack count` lines. */
function sampleWorker(pid, dir) {
  const file = path.join(dir, 'worker.txt')
  const args = ['record', '-p', `${pid}`, '-r', '100', '-d', `${SECONDS}`, '-f', 'raw', '-o', file]
  const child = spawn(PYSPY, [...args, '--subprocesses'], { stdio: ['ignore', 2, 2] })
  return async () => {
    if (child.exitCode === null) await once(child, 'exit')
    return readFileSync(file, 'utf8')
  }
}

/** Shares of samples by the file of the innermost function of a stack. */
function workerShares(text) {
  const counts = new Map()
  let all = 0
  for (const line of text.split('\n').filter(Boolean)) {
    const [, stack, count] = /^(.*) (\d+)$/.exec(line)
    const [, name = stack] = /\(([^()]*?)(?::\d+)?\)$/.exec(stack.split(';').at(-1)) ?? []
    counts.set(name, (counts.get(name) ?? 0) + Number(count))
    all += Number(count)
  }
  const shares = [...counts].map(([name, count]) => ({ name, share: count / all }))
  return shares.sort((a, b) => b.share - a.share)
}

const print = (process, shares) =>
  table(
    shares
      .slice(0, TOP)
      .map(({ name, share }) => ({ process, share: `${(100 * share).toFixed(1)} %`, name })),
  )

const figures = await withSystem({ workers: 1 }, async ({ url, children, pids, dir }) => {
  await WORK.prepare(url)
  const client = new Client(url)
  const run = () => WORK.run(client)
  const services = children.filter(({ name }) => SERVICES.includes(name))
  const inspectors = services.map(inspectorOf)
  await closedLoop(run, { inFlight: IN_FLIGHT, seconds: WARM_SECONDS })
  const ends = await Promise.all(inspectors.map(profile))
  const endWorker = PYSPY && sampleWorker(pids['worker-1'], dir)
  const { count } = await closedLoop(run, { inFlight: IN_FLIGHT, seconds: SECONDS })
  const profiles = await Promise.all(ends.map((end) => end()))
  const worker = endWorker && workerShares(await endWorker())
  client.close()
  return {
    count,
    profiles: profiles.map((taken, i) => ({ name: services[i].name, taken })),
    worker,
  }
})

const label = (frame) => {
  const { functionName, url, lineNumber } = frame
  return url
    ? `${functionName || '(anonymous)'} ${sourceOf(frame).replace(/.*\/(?=[^/]+\/[^/]+$)/, '')}:${lineNumber + 1}`
    : functionName
}
for (const { name, taken } of figures.profiles) {
  const byCategory = sharesOf(taken, (frame) => categoryOf(frame, sourceOf(frame)))
  process.stdout.write(
    `\n${name}: busy ${(byCategory.busyMs / figures.count).toFixed(2)} ms for each of ${figures.count}\n`,
  )
  print(name, byCategory.shares)
  print(name, sharesOf(taken, label).shares)
}
if (figures.worker) print('worker', figures.worker)
process.stdout.write(
  `\n${JSON.stringify({ bench: 'profile', work: WORK.name, machine: machine(), in_flight: IN_FLIGHT })}\n`,
)
