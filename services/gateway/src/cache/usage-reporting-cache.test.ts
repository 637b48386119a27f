import { expect, test } from 'vitest'
import { UsageReportingCache } from './usage-reporting-cache.ts'

function setup() {
  const state = { now: 0, epoch: 'a' as string | undefined, asked: 0, fails: false }
  const known = new UsageReportingCache(
    async () => state.epoch,
    async (key) => {
      state.asked++
      if (state.fails) throw new Error('away')
      return `${key}${state.asked}`
    },
    { reportIntervalMs: 1_000, now: () => state.now },
  )
  return { state, known }
}

test('what goes on being used is asked for once in a while, and answered from memory', async () => {
  const { state, known } = setup()
  for (const now of [0, 1, 999]) {
    state.now = now
    expect(await known.get('k')).toBe('k1')
  }
  expect(state.asked).toBe(1)
  for (const [now, asked] of [
    [1_000, 2],
    [1_999, 2],
    [2_000, 3],
  ] as const) {
    state.now = now
    expect(await known.get('k')).toBe('k1')
    expect(state.asked).toBe(asked)
  }
})

test('that it cannot be told keeps nobody out, and it is tried again later', async () => {
  const { state, known } = setup()
  await known.get('k')
  state.fails = true
  for (const now of [1_000, 1_500, 2_000]) {
    state.now = now
    expect(await known.get('k')).toBe('k1')
  }
  expect(state.asked).toBe(3)
})

test('another epoch forgets it', async () => {
  const { state, known } = setup()
  await known.get('k')
  state.epoch = 'b'
  expect(await known.get('k')).toBe('k2')
})
