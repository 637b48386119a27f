import { setTimeout as pause } from 'node:timers/promises'
import type { Process } from '@windlass/testkit/process'
import { expect, test } from 'vitest'
import {
  EVICTION_ENV,
  eventTypes,
  executionFixture,
  expectOk,
  sharedSystem,
} from './execution-fixture.ts'

const system = sharedSystem({
  replicas: { gateway: 2, dispatcher: 2 },
  env: { ...EVICTION_ENV, SVC_WORKERS__HEARTBEAT_INTERVAL: '0.5' },
})
const SHORT_MS = 2_000
const LONG_MS = 6_000

async function stopped(processes: readonly Process[], ms: number): Promise<void> {
  for (const one of processes) one.signal('SIGSTOP')
  await pause(ms)
  for (const one of processes) one.signal('SIGCONT')
  await pause(1_000)
}

test('D4: dispatchers stopped and continued: responsive workers and their claims stay', async () => {
  const a = await executionFixture(system(), 0)
  const held = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => {
      const worker = await a.startWorker({ capacity: 1, url: i % 2 ? a.one : a.two })
      return { worker, id: '', generation: 0 }
    }),
  )
  for (const _ of held) {
    const id = await a.run()
    // Each worker has one slot.
    const idle = held.filter((one) => one.id === '')
    const to = await Promise.any(
      idle.map((one) => one.worker.nextFrame('execution_scheduled', id).then(() => one)),
    )
    to.id = id
    to.generation = await to.worker.claimGeneration(id)
  }
  const dispatchers = system().of('dispatcher')
  for (const one of dispatchers) await stopped([one], SHORT_MS)
  // Longer than the eviction time: no dispatcher could receive pongs.
  await stopped(dispatchers, LONG_MS)
  for (const { worker, id, generation } of held) {
    expect(worker.stream.ended).toBe(false)
    expectOk(await worker.complete(id, generation))
    expect(eventTypes(await a.read(id)).filter((type) => type === 'WORKFLOW_CLAIMED')).toHaveLength(
      1,
    )
  }
})
