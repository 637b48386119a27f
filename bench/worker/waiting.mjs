import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../lib/http.mjs'
import { percentile } from '../lib/load.mjs'
import { withSystem } from '../lib/system.mjs'
import { uploadSource } from '../lib/workflows.mjs'
import { startWorker } from './start-worker.mjs'
import { run, source } from './throughput.mjs'

const SLEEPERS = Number(process.env.SLEEPERS ?? 5_000)
const SLOTS = 16
const STARTS_IN_FLIGHT = 32
const SLEEP_MS = 60_000
/** Executions whose wake-ups are read: each costs a request. */
const SAMPLE = 500
const PARENTS = 64
const PARENT_SLOTS = 8
const POLL_MS = 1_000

/** Executions asleep, and parents that wait for children, on one worker with few slots. */
export const waiting = () =>
  withSystem({ workers: 0 }, async (system) => {
    const client = new Client(system.url)
    await uploadSource(system.url, source())
    const few = await startWorker(system, 'few', ['--max-concurrent', PARENT_SLOTS])
    const begun = performance.now()
    await Promise.all(Array.from({ length: PARENTS }, () => run(client, 'parent')))
    const parents_s = (performance.now() - begun) / 1_000
    await system.processes.stop(few)
    await startWorker(system, 'sleepers', ['--max-concurrent', SLOTS])
    const ids = await startAll(client)
    const held = await slotsHeld(client)
    const delays = await wakeDelays(client, ids)
    client.close()
    const asleep = `${SLEEPERS} executions asleep for a minute, ${SLOTS} slots`
    return [
      {
        row: `${PARENTS} parents, each awaits a child, ${PARENT_SLOTS} slots`,
        figure: 's',
        value: parents_s,
      },
      { row: asleep, figure: 'slots held, least', value: held },
      { row: asleep, figure: 'delay of the wake-up, p50 s', value: percentile(delays, 50) / 1_000 },
      { row: asleep, figure: 'delay of the wake-up, p99 s', value: percentile(delays, 99) / 1_000 },
    ]
  })

async function startAll(client) {
  const ids = []
  const one = async () => {
    while (ids.length < SLEEPERS) {
      const place = ids.push(undefined) - 1
      const { status, text } = await client.request('POST', '/workflows/default/minute/run/async', {
        body: 'null',
      })
      if (status >= 300) throw new Error(`${status} ${text}`)
      ids[place] = JSON.parse(text).execution_id
    }
  }
  await Promise.all(Array.from({ length: STARTS_IN_FLIGHT }, one))
  return ids
}

/** Returns the smallest number of executions that run while all sleep; parked ones are SCHEDULED. */
async function slotsHeld(client) {
  let least = Number.POSITIVE_INFINITY
  const until = performance.now() + SLEEP_MS / 2
  while (performance.now() < until && least > 0) {
    const { text } = await client.request('GET', `/executions?state=RUNNING&limit=${SLOTS}`)
    least = Math.min(least, JSON.parse(text).executions.length)
    await sleep(POLL_MS)
  }
  return least
}

/** Returns the milliseconds between the end of the sleep and the end of each sampled execution. */
async function wakeDelays(client, ids) {
  const step = Math.max(1, Math.floor(ids.length / SAMPLE))
  const delays = []
  for (const id of ids.filter((_, index) => index % step === 0)) {
    const events = await untilEnded(client, id)
    const timeOf = (type) => Date.parse(events.find((event) => event.type === type)?.time)
    delays.push(timeOf('TASK_COMPLETED') - timeOf('TASK_STARTED') - SLEEP_MS)
  }
  return delays
}

async function untilEnded(client, id) {
  for (;;) {
    const path = `/workflows/default/minute/status/${id}?detailed=true`
    const { text } = await client.request('GET', path)
    const { state, events } = JSON.parse(text)
    if (state === 'COMPLETED') return events
    if (state === 'FAILED') throw new Error(text)
    await sleep(POLL_MS)
  }
}
