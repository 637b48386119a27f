import { expect, test } from 'vitest'
import { Batcher } from './batcher.ts'

const gate = () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

test('a single item: flushed at once; items added during the flush: flushed together', async () => {
  const first = gate()
  const flushes: number[][] = []
  const gather = new Batcher<number, number>(async (items) => {
    flushes.push(items)
    if (flushes.length === 1) await first.opened
    return items.map((item) => item * 10)
  })
  const results = [1, 2, 3].map((item) => gather.add(item))
  first.open()
  expect(await Promise.all(results)).toEqual([10, 20, 30])
  expect(flushes).toEqual([[1], [2, 3]])
})

test('maxBatchSize and concurrency: batches stay within both', async () => {
  const hold = gate()
  const flushes: number[][] = []
  const gather = new Batcher<number, number>(
    async (items) => {
      flushes.push(items)
      await hold.opened
      return items
    },
    { concurrency: 2, maxBatchSize: 2 },
  )
  const results = [1, 2, 3, 4, 5].map((item) => gather.add(item))
  expect(flushes).toEqual([[1], [2]])
  hold.open()
  await Promise.all(results)
  expect(flushes).toEqual([[1], [2], [3, 4], [5]])
})

test('a failed flush: rejects its own items and no others', async () => {
  let round = 0
  const gather = new Batcher<number, number>(async (items) => {
    if (++round === 1) throw new Error('lost')
    return items
  })
  const [lost, kept] = await Promise.allSettled([gather.add(1), gather.add(2)])
  expect(lost).toMatchObject({ status: 'rejected', reason: { message: 'lost' } })
  expect(kept).toEqual({ status: 'fulfilled', value: 2 })
  await gather.whenIdle()
})

test('perTick: items of one turn form one batch, and an idle batcher sends at once', async () => {
  const batches: number[][] = []
  const gather = new Batcher<number, number>(
    async (items) => {
      batches.push(items)
      return items
    },
    { concurrency: 4, perTick: true },
  )
  expect(await Promise.all([gather.add(1), gather.add(2), gather.add(3)])).toEqual([1, 2, 3])
  expect(await gather.add(4)).toBe(4)
  expect(batches).toEqual([[1, 2, 3], [4]])
})
