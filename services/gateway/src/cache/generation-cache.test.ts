import { expect, test } from 'vitest'
import { GenerationCache } from './generation-cache.ts'

function setup() {
  const now = { epoch: 'a' as string | undefined, value: 1 }
  const cache = new GenerationCache(
    async () => now.epoch,
    async (key) => `${key}${now.value}`,
  )
  return { now, cache }
}

test('an entry holds for as long as its epoch', async () => {
  const { now, cache } = setup()
  expect(await cache.get('k')).toBe('k1')
  now.value = 2
  expect(await cache.get('k')).toBe('k1')
  now.epoch = 'b'
  expect(await cache.get('k')).toBe('k2')
})

test('while the epoch cannot be read nothing is remembered nor used', async () => {
  const { now, cache } = setup()
  await cache.get('k')
  now.epoch = undefined
  now.value = 2
  expect(await cache.get('k')).toBe('k2')
  now.epoch = 'a'
  expect(await cache.get('k')).toBe('k1')
})

test('what was fetched while the epoch changed is not found under the new one', async () => {
  const now = { epoch: 'a' }
  let finish: (value: string) => void = () => {}
  const cache = new GenerationCache(
    async () => now.epoch,
    () => new Promise<string>((resolve) => (finish = resolve)),
  )
  const slow = cache.get('k')
  await expect.poll(() => finish.length).toBe(1)
  const finishOld = finish
  now.epoch = 'b'
  const fresh = cache.get('k')
  await expect.poll(() => finish !== finishOld).toBe(true)
  finishOld('old')
  finish('new')
  expect([await slow, await fresh]).toEqual(['old', 'new'])
  expect(await cache.get('k')).toBe('new')
})

test('a failure is not remembered', async () => {
  let calls = 0
  const cache = new GenerationCache(
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
