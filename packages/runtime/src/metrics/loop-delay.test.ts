import { expect, test } from 'vitest'
import { measureLoopDelay } from './loop-delay.ts'

const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('event loop blocked: the largest delay shows it until the reset', async () => {
  const delay = measureLoopDelay()
  // Longer than the pause between two measurements of an idle process, so one of them is late.
  block(1_500)
  await expect.poll(() => delay.quantile(1), { timeout: 10_000 }).toBeGreaterThan(300)
  expect(delay.quantile(1)).toBeLessThan(30_000)
  delay.reset()
  expect(delay.quantile(1)).toBe(0)
  delay.stop()
})

test('nothing measured yet: no delay', () => {
  const delay = measureLoopDelay()
  expect(delay.quantile(0.99)).toBe(0)
  delay.stop()
})
