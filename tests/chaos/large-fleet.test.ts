import { setTimeout as pause } from 'node:timers/promises'
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
} from '../e2e/execution-fixture.ts'
import { retryUntilAnswered } from '../e2e/fault-injection.ts'

const WORKERS = Number(process.env.TEST_FLEET ?? 1_000)
const PATIENT = { timeout: 1_200_000 }
const HANG_MS = 180_000
/** The promise is a tenth of the fleet per second; the limit allows five tenths. */
const MOST_IN_A_SECOND = WORKERS / 2

const system = sharedSystem({
  replicas: TWO_OF_EACH,
  env: {
    SVC_WORKERS__HEARTBEAT_INTERVAL: '5',
    SVC_WORKERS__HEARTBEAT_TIMEOUT: '40',
    SVC_WORKERS__EVICTION_GRACE_PERIOD: '10',
    SVC_EXECUTIONS__CLAIM_TIMEOUT: '5',
  },
})

async function fleetOf(a: ExecutionFixture): Promise<ScriptedWorker[]> {
  const fleet: ScriptedWorker[] = []
  await repeat(async () => {
    const worker = await a.worker({ url: a.system.url })
    await retryUntilAnswered(() => worker.register())
    await retryUntilAnswered(() => worker.connect())
    fleet.push(worker)
  }, WORKERS)
  return fleet
}

/** Counts the fleet's workers with this status at a gateway. */
async function shown(a: ExecutionFixture, url: string, status: string): Promise<number> {
  const all = expectOk(await a.send('GET', `/workers?status=${status}`, undefined, url))
  return all.filter(({ labels }: { labels: { pool?: string } }) => labels.pool === a.pool).length
}

const expectShown = async (a: ExecutionFixture, status: string, count: number) => {
  for (const url of [a.one, a.two])
    await expect.poll(() => shown(a, url, status), { timeout: HANG_MS, interval: 500 }).toBe(count)
}

/** Completes all work and reconnects when the stream ends; reports the time of each reconnect. */
function keepWorking(
  worker: ScriptedWorker,
  onReconnect: (at: number) => void,
): () => Promise<void> {
  let isOver = false
  const living = (async () => {
    while (!isOver) {
      if (worker.stream.ended) {
        await retryUntilAnswered(() => worker.connect())
        onReconnect(performance.now())
      }
      const frame = await worker
        .nextFrame('execution_scheduled', undefined, 500)
        .catch(() => undefined)
      if (!frame) continue
      const claim = await retryUntilAnswered(() => worker.claim(frame.execution_id))
      if (claim.status !== 200) continue
      const generation = Number(claim.headers['x-svc-claim-generation'])
      await retryUntilAnswered(() => worker.complete(frame.execution_id, generation))
    }
  })()
  return () => {
    isOver = true
    return living
  }
}

test(
  'D10: a thousand workers connect, leave and connect again: the shown states are true',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const fleet = await fleetOf(a)
    await expectShown(a, 'online', WORKERS)
    for (const worker of fleet) worker.close()
    await expectShown(a, 'online', 0)
    await repeat(
      async (n) => void (await retryUntilAnswered(() => (fleet[n] as ScriptedWorker).connect())),
      WORKERS,
    )
    await expectShown(a, 'online', WORKERS)
    const id = await a.run()
    const frame = await Promise.any(
      fleet.map(async (worker) => ({ worker, ...(await worker.nextFrame()) })),
    )
    expectOk(await frame.worker.complete(id, await frame.worker.claimGeneration(id)))
    for (const worker of fleet) worker.close()
  },
)

test(
  'S7, R4: every process restarted in turn: a thousand workers reconnect, no work is lost or done twice',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const fleet = await fleetOf(a)
    const returns: number[] = []
    const stops = fleet.map((worker) => keepWorking(worker, (at) => returns.push(at)))
    const ids: string[] = []
    let isOver = false
    const load = (async () => {
      while (!isOver) {
        ids.push(
          expectOk(await retryUntilAnswered(() => a.requestRun('1', { url: a.system.url })))
            .execution_id,
        )
        await pause(200)
      }
    })()
    const services = [
      'identity',
      'catalog',
      'executions',
      'dispatcher',
      'scheduler',
      'gateway',
    ] as const
    for (const service of services)
      for (const one of system().of(service)) await one.restart('SIGTERM')
    isOver = true
    await load
    await expectShown(a, 'online', WORKERS)
    for (const id of ids) {
      const done = await a.until(id, 'COMPLETED')
      expect(eventTypes(done).filter((type) => type === 'WORKFLOW_COMPLETED')).toHaveLength(1)
    }
    await Promise.all(stops.map((stop) => stop()))
    const most = Math.max(
      0,
      ...returns.map((at) => returns.filter((other) => other >= at && other < at + 1_000).length),
    )
    console.info(`S7: ${ids.length} runs, ${returns.length} returns, ${most} in the fullest second`)
    expect(returns.length).toBeGreaterThanOrEqual(WORKERS)
    expect(most).toBeLessThan(MOST_IN_A_SECOND)
  },
)
