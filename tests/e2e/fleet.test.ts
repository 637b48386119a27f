import { setTimeout as pause } from 'node:timers/promises'
import type { ScriptedWorker } from '@windlass/testkit/scripted-worker'
import { expect, test } from 'vitest'
import {
  EVICTION_ENV,
  type ExecutionFixture,
  eventTypes,
  executionFixture,
  expectOk,
  frameIdOf,
  HANG_MS,
  ROUNDS,
  sharedSystem,
  TWO_OF_EACH,
} from './execution-fixture.ts'
import { completeNextFrame, reconnectingWorker, writeUnderClaim } from './fault-injection.ts'

const PATIENT = { timeout: 300_000 }
/** The promise is one second; the limit allows five. */
const SUPERSEDE_HANG_MS = 60_000
const EVICTION_MS = 5_000
const HANDOVER_PROMISE_MS = EVICTION_MS + 2_000

const system = sharedSystem({
  replicas: TWO_OF_EACH,
  env: {
    ...EVICTION_ENV,
    SVC_EXECUTIONS__CLAIM_TIMEOUT: '1.5',
    SVC_EXECUTIONS__MAX_ATTEMPTS: '1000',
  },
})

const until = (ask: () => unknown, timeout = HANG_MS) =>
  expect.poll(ask, { timeout, interval: 10 }).toBe(true)

/** Reconnects the worker through both gateways in turn, until stopped. Returns the function that stops it. */
function reconnectRepeatedly(a: ExecutionFixture, worker: ScriptedWorker): () => Promise<number> {
  let isOver = false
  const reconnecting = (async () => {
    let count = 0
    for (; !isOver; count++) {
      await worker.connect({ url: count % 2 === 0 ? a.one : a.two })
      await pause(30)
    }
    return count
  })()
  return () => {
    isOver = true
    return reconnecting
  }
}

test(
  'D3, D9: repeated reconnects: never more leases than slots, and each frame names its lease',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const capacity = 3
    const worker = await a.startWorker({ capacity })
    const calm = reconnectRepeatedly(a, worker)
    const ids = await Promise.all(Array.from({ length: 40 }, () => a.run()))
    let held = 0
    let most = 0
    const frames = new Map<string, string>()
    const work = async () => {
      const frame = await worker
        .nextFrame('execution_scheduled', undefined, 500)
        .catch(() => undefined)
      if (!frame) return
      const claim = await worker.claim(frame.execution_id)
      if (claim.status !== 200) return
      const generation = Number(claim.headers['x-svc-claim-generation'])
      const known = frames.get(`${frame.execution_id} ${generation}`)
      // The frame of an expired lease can arrive late; the claim then belongs to a later lease.
      if (known === undefined) frames.set(`${frame.execution_id} ${generation}`, frame.id)
      most = Math.max(most, ++held)
      await pause(20)
      held--
      await worker.complete(frame.execution_id, generation)
    }
    const isOpen = async () => {
      const left = (await a.listAll()).filter(({ state }) => state !== 'COMPLETED')
      return left.length > 0
    }
    const loops = Array.from({ length: 8 }, async () => {
      for (let i = 0; i % 5 !== 4 || (await isOpen()); i++) await work()
    })
    await Promise.all(loops)
    expect(await calm()).toBeGreaterThan(10)
    expect(most).toBeLessThanOrEqual(capacity)
    expect((await a.listAll()).map(({ execution_id }) => execution_id).sort()).toEqual(ids.sort())
    const own = [...frames].filter(([key, id]) => {
      const [execution_id = '', generation] = key.split(' ')
      return id === frameIdOf(execution_id, Number(generation))
    })
    expect(own.length).toBeGreaterThan(30)
  },
)

test('D7: unhealthy worker: gets no new work and finishes its claims, until it reports healthy', async () => {
  const a = await executionFixture(system(), 0)
  const ill = await a.startWorker()
  const mine = await a.run()
  const events = [{ type: 'WORKFLOW_STARTED' }]
  const { generation } = await writeUnderClaim(ill, mine, (generation) =>
    ill.checkpoint(mine, { state: 'RUNNING', events, generation }),
  )
  for (const flap of [1, 2]) {
    ill.isHealthy = false
    await until(async () => (await seen(a, ill)) === 'unhealthy')
    const well = await a.startWorker()
    const ids = await Promise.all(Array.from({ length: 10 }, () => a.run()))
    await Promise.all(ids.map((id) => completeNextFrame(well, id)))
    expect(ill.frames, `flap ${flap}`).toEqual([])
    well.close()
    await until(async () => (await seen(a, well)) === 'offline')
    ill.isHealthy = true
    await until(async () => (await seen(a, ill)) === 'online')
    const back = await a.run()
    await completeNextFrame(ill, back)
  }
  expectOk(await ill.complete(mine, generation))
})

const seen = async (a: ExecutionFixture, { name }: ScriptedWorker, url = a.one) =>
  expectOk(await a.send('GET', `/workers/${name}`, undefined, url)).status

test(
  'D8: second stream of a worker: ends the first at any dispatcher and receives all later work',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const worker = await a.startWorker()
    let slowest = 0
    for (let round = 0; round < ROUNDS; round++) {
      const older = worker.stream
      await worker.connect({ url: round % 2 === 0 ? a.one : a.two })
      const begun = performance.now()
      await until(() => older.ended, SUPERSEDE_HANG_MS)
      slowest = Math.max(slowest, performance.now() - begun)
      expect(worker.stream.ended).toBe(false)
      if (round % 10 > 0) continue
      const id = await a.run()
      await completeNextFrame(worker, id)
    }
    console.info(
      `D8: of ${ROUNDS} superseded streams the slowest ended after ${Math.round(slowest)} ms`,
    )
    expect(worker.frames).toEqual([])
    expect(await seen(a, worker, a.two)).toBe('online')
  },
)

test(
  'D10: worker gone, worker hung, dispatcher killed: every gateway shows the true worker states',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 4)
    const [stays, leaves, hangs, returns] = a.workers as [
      ScriptedWorker,
      ScriptedWorker,
      ScriptedWorker,
      ScriptedWorker,
    ]
    leaves.close()
    hangs.hang()
    await system().of('dispatcher')[0]?.restart('SIGKILL')
    for (const worker of [stays, returns]) if (worker.stream.ended) await worker.connect()
    const truth = {
      [stays.name]: 'online',
      [leaves.name]: 'offline',
      [hangs.name]: 'offline',
      [returns.name]: 'online',
    }
    for (const url of [a.one, a.two]) {
      const shown = async () => {
        const all = expectOk(await a.send('GET', '/workers', undefined, url)) as {
          name: string
          status: string
        }[]
        return Object.fromEntries(
          all.flatMap(({ name, status }) => (name in truth ? [[name, status]] : [])),
        )
      }
      await expect.poll(shown, { timeout: HANG_MS, interval: 50 }).toEqual(truth)
    }
  },
)

test('worker killed: its work runs on another worker soon after the eviction', async () => {
  const a = await executionFixture(system(), 0)
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    const killed = await a.startWorker()
    const id = await a.run()
    await writeUnderClaim(killed, id, (generation) =>
      killed.checkpoint(id, {
        state: 'RUNNING',
        events: [{ type: 'WORKFLOW_STARTED' }],
        generation,
      }),
    )
    const heir = await a.startWorker()
    killed.answersPings = false
    killed.close()
    const begun = performance.now()
    await completeNextFrame(heir, id)
    times.push(Math.round(performance.now() - begun))
    heir.close()
  }
  console.info(
    `handover: ${times.join(', ')} ms after the kill, promised ${HANDOVER_PROMISE_MS} ms`,
  )
  expect(Math.max(...times)).toBeLessThan(5 * HANDOVER_PROMISE_MS)
})

test(
  'S7: dispatchers stopped in turn: workers reconnect elsewhere, no work is lost or done twice',
  PATIENT,
  async () => {
    const a = await executionFixture(system(), 0)
    const workers = await Promise.all(
      Array.from({ length: 12 }, () => a.startWorker({ url: a.one })),
    )
    const enough = workers.map(reconnectingWorker)
    const ids: string[] = []
    for (const dispatcher of system().of('dispatcher')) {
      const restarting = dispatcher.restart('SIGTERM')
      for (let i = 0; i < 20; i++) ids.push(await a.run())
      await restarting
    }
    for (const id of ids) {
      const done = await a.until(id, 'COMPLETED')
      expect(done.output).toBe(id)
      expect(eventTypes(done).filter((type) => type === 'WORKFLOW_COMPLETED')).toHaveLength(1)
    }
    await Promise.all(enough.map((stop) => stop()))
  },
)
