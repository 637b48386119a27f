import { expect, test } from 'vitest'
import {
  eventTypes,
  executionFixture,
  expectOk,
  expectStaleClaim,
  repeat,
  sharedSystem,
  TWO_OF_EACH,
} from './execution-fixture.ts'

const PATIENT = { timeout: 300_000 }
const CANCEL_TIMEOUT_S = 1.5
const system = sharedSystem({
  replicas: TWO_OF_EACH,
  env: {
    SVC_EXECUTIONS__CANCEL_TIMEOUT: String(CANCEL_TIMEOUT_S),
    SVC_EXECUTIONS__CLAIM_TIMEOUT: '60',
    SVC_EXECUTIONS__MAX_ATTEMPTS: '1000',
  },
})

interface Read {
  from: number
  to: number
  known: { state: string; output: unknown; events: object[] }
}

/** Asserts that a later read has the earlier log as a prefix and the same end. */
function agrees({ known: earlier }: Read, { known: later }: Read): void {
  expect(later.events.slice(0, earlier.events.length)).toEqual(earlier.events)
  const { state, output } = earlier
  if (state === 'COMPLETED') expect(later).toMatchObject({ state, output })
}

test(
  'E4: reads at any gateway: the log only grows, and a terminal state stays',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 2)
    await repeat(async () => {
      const id = await a.run()
      const reads: Read[] = []
      let isOver = false
      const reader = async (url: string) => {
        while (!isOver) {
          const from = performance.now()
          const known = await a.read(id, url)
          reads.push({ from, to: performance.now(), known })
        }
      }
      const readers = [a.one, a.two].map(reader)
      const [holder] = await a.waitForLease(id)
      const generation = await holder.claimGeneration(id)
      const events = [{ type: 'WORKFLOW_STARTED' }]
      expectOk(await holder.checkpoint(id, { state: 'RUNNING', events, generation }))
      expectOk(await holder.complete(id, generation))
      expectStaleClaim(await holder.complete(id, generation, '"another"'))
      isOver = true
      await Promise.all(readers)
      for (const later of reads)
        for (const earlier of reads) if (earlier.to < later.from) agrees(earlier, later)
      expect((await a.read(id)).output).toBe('done')
    }, 10)
  },
)

test('E5: reports and requests after the end: state and output of the execution never change', async () => {
  const a = await executionFixture(system(), 1)
  const [worker] = a.workers as [(typeof a.workers)[0]]
  const id = await a.run()
  const first = await worker.awaitAndClaim(id)
  expectOk(await worker.release(id, first))
  const second = await worker.awaitAndClaim(id)
  expectOk(await worker.complete(id, second, '{"kept":1}'))
  const known = await a.read(id)
  for (const generation of [undefined, first, first + 1, second, second + 1])
    for (const state of ['COMPLETED', 'FAILED', 'CANCELLED', 'RUNNING', 'PAUSED']) {
      const events = [{ type: `WORKFLOW_${state}`.replace('RUNNING', 'STARTED'), value: '"other"' }]
      expectStaleClaim(
        await worker.checkpoint(id, { state, events, output: '"other"', generation }),
      )
    }
  expect((await a.cancel(id)).status).toBe(400)
  expect((await a.resume(id, '1')).status).toBe(400)
  for (const url of [a.one, a.two]) expect(await a.read(id, url)).toEqual(known)
})

test('E6: cancelled execution: ends, whatever its worker does', PATIENT, async () => {
  const a = await executionFixture(system(), 0)
  const atWork = async () => {
    // With one slot each, the next execution goes to the next worker.
    const worker = await a.startWorker({ capacity: 1 })
    const id = await a.run()
    return { worker, id, generation: await worker.awaitAndClaim(id) }
  }
  const queued = await a.run()
  expect(expectOk(await a.cancel(queued)).state).toBe('CANCELLED')

  const deaf = await a.startWorker()
  const leased = await a.run()
  await deaf.nextFrame('execution_scheduled', leased)
  expect(expectOk(await a.cancel(leased, a.two)).state).toBe('CANCELLED')
  deaf.close()

  const silent = await atWork()
  const hanging = await atWork()
  const killed = await atWork()
  hanging.worker.hang()
  killed.worker.close()
  killed.worker.answersPings = false
  const begunMs = new Map<string, number>()
  /** Cancels again; an execution that has ended is refused, but only after the cancel timeout. */
  const cancelAgain = async (id: string, state: string, query = '') => {
    const again = await a.cancel(id, a.two, query)
    if (again.status !== 400) return expect(expectOk(again).state).toBe(state)
    const elapsedMs = performance.now() - (begunMs.get(id) ?? 0)
    expect(elapsedMs).toBeGreaterThan(CANCEL_TIMEOUT_S * 1_000)
    expect((await a.read(id)).state).toBe('CANCELLED')
  }
  for (const { id } of [silent, hanging, killed]) {
    begunMs.set(id, performance.now())
    expect(expectOk(await a.cancel(id)).state).toBe('CANCELLING')
    await cancelAgain(id, 'CANCELLING')
  }
  // With mode=sync, the cancel is answered at the end of the execution.
  await cancelAgain(silent.id, 'CANCELLED', '?mode=sync')
  for (const { id, worker, generation } of [silent, hanging, killed]) {
    const { events } = await a.until(id, 'CANCELLED')
    const asked = eventTypes({ events }).filter((type) => type === 'WORKFLOW_CANCELLING')
    expect(asked).toHaveLength(1)
    expect((await worker.complete(id, generation)).status).toBeOneOf([401, 409])
  }
})

test('E11: requested version: dispatched at every attempt; a resume uses the newest version', async () => {
  const a = await executionFixture(system(), 0)
  await a.upload(', runner="inprocess"')
  const pinned = await a.run('1', { query: '?version=1' })
  const worker = await a.startWorker()
  const versionOf = async (event = 'execution_scheduled') => {
    const { data } = await worker.nextFrame(event, pinned)
    return data.workflow.version
  }
  expect(await versionOf()).toBe(1)
  expectOk(await worker.release(pinned, await worker.claimGeneration(pinned)))
  await a.upload(', runner="subprocess"')
  expect(await versionOf()).toBe(1)
  expectOk(await worker.pause(pinned, await worker.claimGeneration(pinned)))
  expectOk(await a.resume(pinned, 'null'))
  expect(await versionOf('execution_resumed')).toBe(3)
  expectOk(await worker.release(pinned, await worker.claimGeneration(pinned)))
  expect(await versionOf('execution_resumed')).toBe(3)
  expectOk(await worker.complete(pinned, await worker.claimGeneration(pinned)))
})
