import { pino } from 'pino'
import { expect, test } from 'vitest'
import { loop, pauseAfter, pauseUntilDue } from './loop.ts'

const log = pino({ level: 'silent' })
const options = { name: 'test', pauseMs: 60_000, log }

test('a round with more work: the next one follows at once; without: after a pause', async () => {
  let rounds = 0
  const running = loop(options, async () => ++rounds < 3)
  await expect.poll(() => rounds).toBe(3)
  await running.stop()
  expect(rounds).toBe(3)
})

test('wake: ends the pause; during a round it causes one more', async () => {
  let rounds = 0
  let release = () => {}
  const running = loop(options, async () => {
    rounds++
    if (rounds === 2) await new Promise<void>((resolve) => (release = resolve))
  })
  await expect.poll(() => rounds).toBe(1)
  running.wake()
  await expect.poll(() => rounds).toBe(2)
  running.wake()
  running.wake()
  release()
  await expect.poll(() => rounds).toBe(3)
  await running.stop()
  expect(rounds).toBe(3)
})

test('a round that throws: the loop continues', async () => {
  let rounds = 0
  const running = loop({ ...options, pauseMs: 1 }, async () => {
    if (++rounds < 3) throw new Error('passing')
  })
  await expect.poll(() => rounds).toBeGreaterThanOrEqual(3)
  await running.stop()
})

test.each([
  [500, [500, 1_000, 2_000, 4_000, 5_000, 5_000]],
  [60_000, [60_000, 60_000]],
])('failures in a loop with a pause of %i ms: longer pauses, up to 5 s', (pauseMs, pauses) => {
  expect(pauses.map((_, failures) => pauseAfter(failures, pauseMs))).toEqual(pauses)
})

test.each([
  [0, 1_000, 1_000],
  [1_200, 1_000, 800],
  [1_999, 1_000, 1_001], // a timer that fired early
  [3_600, 5_000, 1_400],
  [7.5, 1, 0.5],
])('at %s ms, with a pause of %s ms: the next round is after %s ms', (nowMs, pauseMs, expected) => {
  expect(pauseUntilDue(nowMs, pauseMs)).toBe(expected)
})

test('stop during a round: waits for its end', async () => {
  let ended = false
  const running = loop(options, async () => {
    await new Promise((resolve) => setTimeout(resolve, 30))
    ended = true
  })
  await running.stop()
  expect(ended).toBe(true)
})

test('wakeDelayMs: several wake-ups cause one round', async () => {
  let rounds = 0
  const running = loop({ ...options, wakeDelayMs: 20 }, async () => {
    rounds++
  })
  await expect.poll(() => rounds).toBe(1)
  for (let i = 0; i < 10; i++) running.wake()
  expect(rounds).toBe(1)
  await expect.poll(() => rounds).toBe(2)
  running.wake()
  await running.stop()
  expect(rounds).toBe(2)
})
