import { setTimeout as pause } from 'node:timers/promises'
import { type EventFrame, type EventStream, openEventStream } from '@windlass/testkit/http'
import type { Process } from '@windlass/testkit/process'
import type { ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { expect, test } from 'vitest'
import {
  type ExecutionFixture,
  eventTypes,
  executionFixture,
  expectOk,
  repeat,
  sharedSystem,
  TWO_OF_EACH,
} from './execution-fixture.ts'
import { reconnectingWorker, retryUntilAnswered } from './fault-injection.ts'

const PATIENT = { timeout: 180_000 }
const EVENTS = 30
// No worker is silent for long: an eviction would be a defect, also on a busy machine.
const system = sharedSystem({
  replicas: TWO_OF_EACH,
  env: { SVC_WORKERS__HEARTBEAT_TIMEOUT: '30' },
})

/** Reads an execution's events to the end, reconnecting with Last-Event-ID. */
async function readThrough(a: ExecutionFixture, id: string): Promise<EventFrame[]> {
  const frames: EventFrame[] = []
  const open = (): Promise<EventStream | undefined> => {
    const last = frames.at(-1)?.id
    const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last }
    const path = `${a.system.url}/executions/${id}/events`
    return openEventStream(path, headers, (frame) => frames.push(frame)).catch(() => undefined)
  }
  while (frames.at(-1)?.event !== 'workflow_completed') {
    const stream = await open()
    while (stream?.status === 200 && !stream.ended) await pause(10)
    await pause(50)
  }
  return frames
}

/** Reconnects the worker whenever its stream ends. Returns the function that stops it. */
function keepConnected(worker: ScriptedWorker): () => Promise<void> {
  let isOver = false
  const living = (async () => {
    while (!isOver) {
      if (worker.stream.ended) await worker.connect().catch(() => {})
      await pause(20)
    }
  })()
  return () => {
    isOver = true
    return living
  }
}

async function interruptAndRestart(victim: Process): Promise<void> {
  await victim.end('SIGINT')
  expect(victim.output).toContain('"msg":"stopped"')
  await victim.start()
}

test.each(['gateway', 'dispatcher'] as const)(
  'S7: %s interrupted under load: streams reconnect, no event is lost or duplicated',
  PATIENT,
  async (service) => {
    const a = await executionFixture(system(), 0)
    const { url } = a.system
    const busy = await a.startWorker({ capacity: 1, url })
    const long = await a.run()
    const generation = await busy.awaitAndClaim(long)
    const { stream } = busy
    const readers = Array.from({ length: 6 }, () => readThrough(a, long))
    const workers = await Promise.all(Array.from({ length: 6 }, () => a.startWorker({ url })))
    const stops = [keepConnected(busy), ...workers.map(reconnectingWorker)]
    const ids: string[] = []
    const load = repeat(async (n) => {
      ids.push(
        expectOk(await retryUntilAnswered(() => a.requestRun(String(n), { url }))).execution_id,
      )
      await pause(100)
    }, 100)
    const talk = (async () => {
      for (let n = 0; n < EVENTS; n++) {
        const events = [{ id: `e${n}`.padStart(16, '0'), type: 'TASK_COMPLETED', value: String(n) }]
        const report = { state: 'RUNNING', generation, events }
        expectOk(await retryUntilAnswered(() => busy.checkpoint(long, report, { url })))
        await pause(40)
      }
    })()
    for (const victim of system().of(service)) await interruptAndRestart(victim)
    // A gateway continues the streams of a dispatcher that stops from another one.
    if (service === 'dispatcher') expect(busy.stream).toBe(stream)
    await Promise.all([load, talk])
    expectOk(await retryUntilAnswered(() => busy.complete(long, generation, '"done"', { url })))
    for (const id of ids) {
      const done = await a.until(id, 'COMPLETED')
      expect(eventTypes(done).filter((type) => type === 'WORKFLOW_COMPLETED')).toHaveLength(1)
    }
    for (const frames of await Promise.all(readers)) {
      const values = frames.map(({ data }) => JSON.parse(data).value)
      expect(values).toEqual([...Array.from({ length: EVENTS }, (_, n) => n), 'done'])
    }
    await Promise.all(stops.map((stop) => stop()))
  },
)
