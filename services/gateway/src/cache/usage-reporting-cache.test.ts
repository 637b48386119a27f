import { expect, test } from 'vitest'
import { UsageReportingCache } from './usage-reporting-cache.ts'

function setup() {
  const state = { now: 0, generation: 'a' as string | undefined, fetches: 0, fails: false }
  const cache = new UsageReportingCache(
    async () => state.generation,
    async (key) => {
      state.fetches++
      if (state.fails) throw new Error('away')
      return `${key}${state.fetches}`
    },
    { name: 'tested', reportIntervalMs: 1_000, now: () => state.now },
  )
  return { state, cache }
}

test('an entry in use: answered from the cache, refetched once per report interval', async () => {
  const { state, cache } = setup()
  for (const now of [0, 1, 999]) {
    state.now = now
    expect(await cache.get('k')).toBe('k1')
  }
  expect(state.fetches).toBe(1)
  for (const [now, fetches] of [
    [1_000, 2],
    [1_999, 2],
    [2_000, 3],
  ] as const) {
    state.now = now
    expect(await cache.get('k')).toBe('k1')
    expect(state.fetches).toBe(fetches)
  }
})

test('a failed report: the entry is still answered, the report is retried later', async () => {
  const { state, cache } = setup()
  await cache.get('k')
  state.fails = true
  for (const now of [1_000, 1_500, 2_000]) {
    state.now = now
    expect(await cache.get('k')).toBe('k1')
  }
  expect(state.fetches).toBe(3)
})

test('another generation: the entry is fetched again', async () => {
  const { state, cache } = setup()
  await cache.get('k')
  state.generation = 'b'
  expect(await cache.get('k')).toBe('k2')
})
