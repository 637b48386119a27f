import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  type ExecutionFixture,
  executionFixture,
  expectOk,
  HANG_MS,
  repeat,
} from './execution-fixture.ts'
import { reconnectingWorker, retryUntilAnswered, waitForClaimableFrame } from './fault-injection.ts'
import { isolatedSystem } from './isolated-system.ts'

const PATIENT = { timeout: 300_000 }
const isolated = isolatedSystem({
  // Longer than the recovery of PostgreSQL: eviction is tested elsewhere.
  SVC_WORKERS__HEARTBEAT_TIMEOUT: '20',
  SVC_EXECUTIONS__CLAIM_TIMEOUT: '2',
})

/** Submits during a fault and asserts that every acknowledged run ends and no other exists. */
async function assertRunsSurvive(
  a: ExecutionFixture,
  breaking: () => Promise<unknown>,
): Promise<void> {
  const stop = reconnectingWorker(await a.startWorker({ url: a.system.url }))
  const acknowledged = new Set<string>()
  const submitting = repeat(async (n) => {
    const url = n % 2 === 0 ? a.one : a.two
    // A run whose answer is lost is submitted again with its key and stays one execution.
    const headers = { 'idempotency-key': `${a.name} ${n}` }
    const answer = await retryUntilAnswered(() => a.requestRun(String(n), { url, headers }))
    acknowledged.add(expectOk(answer).execution_id)
    await pause(50)
  }, 200)
  await pause(100)
  await breaking()
  await submitting
  const ended = async () =>
    (await a.listAll()).filter(({ state }) => state === 'COMPLETED').map((one) => one.execution_id)
  await expect.poll(async () => new Set(await ended()), { timeout: HANG_MS }).toEqual(acknowledged)
  expect(await a.listAll()).toHaveLength(acknowledged.size)
  await stop()
}

test(
  'C10: PostgreSQL and every executions process crash: acknowledged checkpoints survive',
  PATIENT,
  async () => {
    const a = await executionFixture(isolated().system, 0)
    const worker = await a.startWorker({ url: a.system.url })
    const acknowledged = new Map<string, number[]>()
    const ids = await Promise.all(Array.from({ length: 4 }, () => a.run()))
    let isOver = false
    const loop = async (id: string) => {
      let { generation } = await waitForClaimableFrame(worker, 'execution_scheduled', id)
      const stored: number[] = []
      acknowledged.set(id, stored)
      for (let n = 0; !isOver; n++) {
        const events = [{ id: `${id.slice(-8)}${n}`, type: 'TASK_COMPLETED', value: String(n) }]
        const report = { state: 'RUNNING', events }
        const answer = await retryUntilAnswered(() =>
          worker.checkpoint(id, { ...report, generation }),
        )
        if (answer.status !== 200) {
          generation = (await waitForClaimableFrame(worker, 'execution_scheduled', id)).generation
          expectOk(await retryUntilAnswered(() => worker.checkpoint(id, { ...report, generation })))
        }
        stored.push(n)
      }
      expectOk(await retryUntilAnswered(() => worker.complete(id, generation)))
    }
    const count = (id: string) => acknowledged.get(id)?.length ?? 0
    const moreAcknowledged = async () => {
      const before = new Map(ids.map((id) => [id, count(id)]))
      const hasMore = (id: string) => count(id) > (before.get(id) ?? 0) + 1
      await expect.poll(() => ids.every(hasMore), { interval: 50 }).toBe(true)
    }
    const loops = Promise.all(ids.map(loop))
    for (let crash = 0; crash < 3; crash++) {
      await moreAcknowledged()
      await Promise.all([
        isolated().crashPostgres(),
        ...a.system.of('executions').map((one) => one.restart('SIGKILL')),
      ])
    }
    await moreAcknowledged()
    isOver = true
    await loops
    for (const id of ids) {
      const { events, state } = expectOk(
        await retryUntilAnswered(() => a.send('GET', `/executions/${id}?detailed=true`)),
      )
      expect(state).toBe('COMPLETED')
      const stored = events.flatMap(({ type, value }: { type: string; value: number }) =>
        type === 'TASK_COMPLETED' ? [value] : [],
      )
      expect(stored.length).toBeGreaterThan(5)
      expect(stored).toEqual(acknowledged.get(id))
    }
  },
)

test(
  'E1: NATS loses its store and is down for a while: every acknowledged run ends',
  PATIENT,
  async () => {
    await assertRunsSurvive(await executionFixture(isolated().system, 0), async () => {
      await isolated().nats.kill()
      await isolated().nats.wipe()
      await pause(2_000)
      await isolated().nats.start()
    })
  },
)

test('E10: NATS down: a synchronous run is answered at its end', PATIENT, async () => {
  const a = await executionFixture(isolated().system, 0)
  const stop = reconnectingWorker(await a.startWorker({ url: a.system.url }))
  await isolated().nats.kill()
  const completed = expectOk(await a.requestRun('1', { mode: 'sync', timeoutMs: HANG_MS }))
  expect(completed).toMatchObject({ state: 'COMPLETED', output: completed.execution_id })
  await isolated().nats.start()
  await stop()
})

test('E1: Redis flushed repeatedly: every acknowledged run ends', PATIENT, async () => {
  await assertRunsSurvive(await executionFixture(isolated().system, 0), async () => {
    for (let i = 0; i < 5; i++) {
      expect(await isolated().redisCommand('FLUSHALL')).toBe('+OK\r\n+OK\r\n')
      await pause(100)
    }
  })
})

test('E1: PostgreSQL crashes: every acknowledged run ends', PATIENT, async () => {
  await assertRunsSurvive(await executionFixture(isolated().system, 0), async () => {
    for (let i = 0; i < 2; i++) {
      await isolated().crashPostgres()
      await pause(1_000)
    }
  })
})
