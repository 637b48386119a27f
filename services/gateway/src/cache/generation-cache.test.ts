import { expect, test } from 'vitest'
import { GenerationCache } from './generation-cache.ts'

function setup() {
  const now = { generation: 'a' as string | undefined, value: 1 }
  const cache = new GenerationCache(
    'tested',
    async () => now.generation,
    async (key) => `${key}${now.value}`,
  )
  return { now, cache }
}

test('another generation: the entry is fetched again', async () => {
  const { now, cache } = setup()
  expect(await cache.get('k')).toBe('k1')
  now.value = 2
  expect(await cache.get('k')).toBe('k1')
  now.generation = 'b'
  expect(await cache.get('k')).toBe('k2')
})

test('the generation cannot be read: the cache is neither read nor written', async () => {
  const { now, cache } = setup()
  await cache.get('k')
  now.generation = undefined
  now.value = 2
  expect(await cache.get('k')).toBe('k2')
  now.generation = 'a'
  expect(await cache.get('k')).toBe('k1')
})

test('N039: the generation changes during a fetch: its value is not used under the new one', async () => {
  const now = { generation: 'a' }
  let finish: (value: string) => void = () => {}
  const cache = new GenerationCache(
    'tested',
    async () => now.generation,
    () => new Promise<string>((resolve) => (finish = resolve)),
  )
  const slow = cache.get('k')
  await expect.poll(() => finish.length).toBe(1)
  const finishOld = finish
  now.generation = 'b'
  const fresh = cache.get('k')
  await expect.poll(() => finish !== finishOld).toBe(true)
  finishOld('old')
  finish('new')
  expect([await slow, await fresh]).toEqual(['old', 'new'])
  expect(await cache.get('k')).toBe('new')
})

test('a failed fetch: not cached', async () => {
  let calls = 0
  const cache = new GenerationCache(
    'tested',
    async () => 'a',
    async () => {
      calls++
      if (calls === 1) throw new Error('no')
      return 'yes'
    },
  )
  await expect(cache.get('k')).rejects.toThrow('no')
  expect(await cache.get('k')).toBe('yes')
})
