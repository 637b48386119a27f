import { expect, test } from 'vitest'
import { UsageReportingCache } from './usage-reporting-cache.ts'

function setup() {
  const state = { now: 0, generation: 'a' as string | undefined, asked: 0, fails: false }
  const known = new UsageReportingCache(
    async () => state.generation,
    async (key) => {
      state.asked++
      if (state.fails) throw new Error('away')
      return `${key}${state.asked}`
    },
    { reportIntervalMs: 1_000, now: () => state.now },
  )
  return { state, known }
}

test('an entry in use: fetched once per report interval, answered from memory', async () => {
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

test('a failed report: requests succeed, and the report is retried later', async () => {
  const { state, known } = setup()
  await known.get('k')
  state.fails = true
  for (const now of [1_000, 1_500, 2_000]) {
    state.now = now
    expect(await known.get('k')).toBe('k1')
  }
  expect(state.asked).toBe(3)
})

test('new generation: the entry is fetched again', async () => {
  const { state, known } = setup()
  await known.get('k')
  state.generation = 'b'
  expect(await known.get('k')).toBe('k2')
})
