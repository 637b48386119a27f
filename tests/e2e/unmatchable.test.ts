import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { executionFixture } from './execution-fixture.ts'

const PATIENT = { timeout: 180_000 }

test(
  'D2: thousands of unmatchable runs queued first: a matchable run is not delayed',
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
    const loop = async () => {
      while (made++ < COUNT) await hopeless.run()
    }
    await Promise.all(Array.from({ length: 32 }, loop))
    const after = await median()
    console.info(
      `D2: behind ${COUNT} work starts after ${after.toFixed(1)} ms, before it was ${before.toFixed(1)} ms`,
    )
    expect(after).toBeLessThan(Math.max(5 * before, 500))
    expect((await hopeless.listAll()).every(({ state }) => state === 'SCHEDULED')).toBe(true)
  },
)
