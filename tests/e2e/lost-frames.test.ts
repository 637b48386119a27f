import { expect, test } from 'vitest'
import {
  executionFixture,
  HANG_MS,
  lossyLinkTo,
  sharedSystem,
  TWO_OF_EACH,
} from './execution-fixture.ts'
import { completeNextFrame } from './fault-injection.ts'

const system = sharedSystem({
  replicas: TWO_OF_EACH,
  // The leases of lost frames expire after this time.
  env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '4', SVC_EXECUTIONS__MAX_ATTEMPTS: '1000' },
})

test.each([0, 1, 300, 100_000])(
  'C8: dispatch frame cut off after %i bytes: the work is sent again',
  async (bytes) => {
    const a = await executionFixture(system(), 0)
    const lossy = await lossyLinkTo(a.one)
    const worker = await a.startWorker({ url: lossy.url })
    const big = JSON.stringify('x'.repeat(100_000))
    lossy.link.cutAfter(bytes)
    const id = await a.run(big)
    await expect.poll(() => worker.stream.ended, { timeout: HANG_MS }).toBe(true)
    expect(worker.frames).toEqual([])
    lossy.link.heal()
    await worker.connect()
    const frame = await completeNextFrame(worker, id)
    expect(frame.data.context.input).toHaveLength(100_000)
  },
)

test('C8: dispatcher killed while it sends a frame: the work is sent again', async () => {
  const a = await executionFixture(system(), 0)
  const worker = await a.startWorker()
  for (let i = 0; i < 3; i++) {
    const id = await a.run()
    await Promise.all(
      system()
        .of('dispatcher')
        .map((one) => one.restart('SIGKILL')),
    )
    await expect.poll(() => worker.stream.ended, { timeout: HANG_MS }).toBe(true)
    await worker.connect()
    await completeNextFrame(worker, id)
  }
})
