import { setTimeout as pause } from 'node:timers/promises'
import { balance } from '@windlass/testkit/balancer'
import { testUrl } from '@windlass/testkit/database'
import { startSystem } from '@windlass/testkit/system'
import { expect, onTestFinished, test } from 'vitest'
import { arena, ok } from './arena.ts'

const PATIENT = { timeout: 180_000 }

/** The same server by another way, which can be cut. */
async function byWay(url: string) {
  const real = new URL(url)
  const way = await balance([Number(real.port)])
  onTestFinished(() => way.stop())
  real.port = String(way.port)
  return { url: real.href.replace(/\/$/, ''), cut: () => way.stop() }
}

test(
  'D1: matchable work starts while NATS and Redis are away, since everybody looks by himself',
  PATIENT,
  async () => {
    const nats = await byWay(testUrl('TEST_NATS_URL'))
    const redis = await byWay(testUrl('TEST_REDIS_URL'))
    const system = await startSystem({
      workers: 0,
      env: { SVC_NATS__URL: nats.url, SVC_REDIS__URL: redis.url },
    })
    const a = await arena(system, 1)
    const [worker] = a.workers
    if (!worker) expect.unreachable()
    const startsAfter = async () => {
      const begun = performance.now()
      const id = await a.run()
      const generation = await worker.take(id)
      const ms = performance.now() - begun
      ok(await worker.complete(id, generation))
      return ms
    }
    expect(await startsAfter()).toBeLessThan(10_000)
    nats.cut()
    redis.cut()
    const times: number[] = []
    for (let i = 0; i < 5; i++) times.push(await startsAfter())
    console.info(
      `D1: without NATS and Redis work starts after ${times.map(Math.round).join(', ')} ms`,
    )
    // Promised is twice the poll floor of a second.
    expect(Math.max(...times)).toBeLessThan(10_000)
  },
)

/** In the dispatcher's process the wall clock jumps by an hour, a second after the start. */
const CLOCK_JUMP =
  'data:text/javascript,if(/dispatcher/.test(process.argv[1])){const n=Date.now;const s=n();Date.now=()=>n()+(n()-s>1000?3600000:0)}'

test(
  'D4: a dispatcher that was stopped for longer than its workers may be silent evicts none of them, whatever its clock says',
  PATIENT,
  async () => {
    const system = await startSystem({
      workers: 0,
      env: { NODE_OPTIONS: `--import="${CLOCK_JUMP}"` },
    })
    const a = await arena(system, 3)
    const [worker] = a.workers
    if (!worker) expect.unreachable()
    const id = await a.run()
    const [holder] = await a.dispatched(id)
    const generation = await holder.claimed(id)
    const [dispatcher] = system.of('dispatcher')
    for (let round = 0; round < 2; round++) {
      dispatcher?.signal('SIGSTOP')
      // Silence of 1.2 s evicts.
      await pause(3_000)
      dispatcher?.signal('SIGCONT')
      await pause(2_500)
      expect(a.workers.map(({ stream }) => stream.ended)).toEqual([false, false, false])
    }
    const { state, worker_name } = await a.read(id)
    expect({ state, worker_name }).toEqual({ state: 'CLAIMED', worker_name: holder.name })
    ok(await holder.complete(id, generation))
  },
)

test(
  'D2: runs by the thousand that nobody can do in front do not delay one that somebody can',
  PATIENT,
  async () => {
    const COUNT = Number(process.env.TEST_UNMATCHABLE ?? 2_000)
    const system = await startSystem({ workers: 0 })
    const [hopeless, a] = [await arena(system, 0), await arena(system, 1)]
    const [worker] = a.workers
    if (!worker) expect.unreachable()
    const median = async () => {
      const times: number[] = []
      for (let i = 0; i < 15; i++) {
        const begun = performance.now()
        const id = await a.run()
        const generation = await worker.take(id)
        times.push(performance.now() - begun)
        await worker.complete(id, generation)
      }
      return times.sort((x, y) => x - y)[7] ?? Number.NaN
    }
    const before = await median()
    let made = 0
    const lane = async () => {
      while (made++ < COUNT) await hopeless.run()
    }
    await Promise.all(Array.from({ length: 32 }, lane))
    const after = await median()
    console.info(
      `D2: behind ${COUNT} work starts after ${after.toFixed(1)} ms, before it was ${before.toFixed(1)} ms`,
    )
    expect(after).toBeLessThan(Math.max(5 * before, 500))
    expect((await hopeless.all()).every(({ state }) => state === 'SCHEDULED')).toBe(true)
  },
)
