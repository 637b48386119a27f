import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../lib/http.mjs'
import { percentile } from '../lib/load.mjs'
import { withSystem } from '../lib/system.mjs'
import { uploadSource } from '../lib/workflows.mjs'
import { startWorker } from './start-worker.mjs'
import { source } from './throughput.mjs'

const EXECUTIONS = 8
const KILLS = 3
const POLL_MS = 50
const CLAIM = /^WORKFLOW_(RESUME_)?CLAIMED$/

/** Seconds from the kill of a child with eight executions until all of them are claimed again. */
export const kill = () =>
  withSystem({ workers: 0 }, async (system) => {
    const client = new Client(system.url)
    await uploadSource(system.url, source())
    const worker = await startWorker(system, 'worker', ['--children', 1, '--max-concurrent', 16])
    const seconds = []
    for (let n = 0; n < KILLS; n++) seconds.push(await killChild(client, worker.pid))
    client.close()
    const row = `a child is killed with ${EXECUTIONS} executions`
    return [
      { row, figure: 's until all are claimed again, median', value: percentile(seconds, 50) },
    ]
  })

async function killChild(client, pid) {
  const ids = await Promise.all(
    Array.from({ length: EXECUTIONS }, async () => {
      const path = '/workflows/default/until_released/run/async'
      return JSON.parse((await client.request('POST', path, { body: 'null' })).text).execution_id
    }),
  )
  for (const id of ids) await untilClaimed(client, id, 1)
  const killedAt = Date.now()
  process.kill(childOf(pid), 'SIGKILL')
  const times = []
  for (const id of ids) times.push(await untilClaimed(client, id, 2))
  for (const id of ids)
    await client.request('GET', `/workflows/default/until_released/cancel/${id}`)
  for (const id of ids) await until(client, id, ({ state }) => state === 'CANCELLED')
  return (Math.max(...times) - killedAt) / 1_000
}

/** Returns the time of the n-th claim of an execution. */
async function untilClaimed(client, id, n) {
  const claims = ({ events }) => events.filter(({ type }) => CLAIM.test(type))
  const status = await until(client, id, (one) => claims(one).length >= n)
  return Date.parse(claims(status)[n - 1].time)
}

async function until(client, id, isMet) {
  for (;;) {
    const path = `/workflows/default/until_released/status/${id}?detailed=true`
    const status = JSON.parse((await client.request('GET', path)).text)
    if (isMet(status)) return status
    await sleep(POLL_MS)
  }
}

/** Returns the process that runs executions: the newest descendant of the worker. */
function childOf(worker) {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)]),
  )
  const isBelow = (pid) =>
    parents.has(pid) && (parents.get(pid) === worker || isBelow(parents.get(pid)))
  const child = [...parents.keys()]
    .filter(isBelow)
    .sort((a, b) => a - b)
    .at(-1)
  if (child === undefined) throw new Error('the worker has no children')
  return child
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}
