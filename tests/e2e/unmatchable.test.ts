import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { executionFixture } from './execution-fixture.ts'

const PATIENT = { timeout: 180_000 }

test(
  'D2: runs by the thousand that nobody can do in front do not delay one that somebody can',
  PATIENT,
  async () => {
    const COUNT = Number(process.env.TEST_UNMATCHABLE ?? 2_000)
    const system = await startSystem({ workers: 0 })
    const [hopeless, a] = [await executionFixture(system, 0), await executionFixture(system, 1)]
    const [worker] = a.workers
    if (!worker) expect.unreachable()
    const median = async () => {
      const times: number[] = []
      for (let i = 0; i < 15; i++) {
        const begun = performance.now()
        const id = await a.run()
        const generation = await worker.awaitAndClaim(id)
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
