import { expect, onTestFinished, test, vi } from 'vitest'
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

/** A batcher whose batches end when the test says so, on fake timers. */
function spaced() {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const batches: number[][] = []
  const gates: ReturnType<typeof gate>[] = []
  const batcher = new Batcher<number, number>(
    async (items) => {
      batches.push(items)
      const flush = gate()
      gates.push(flush)
      await flush.opened
      return items
    },
    { maxSpacingMs: 4, maxBatchSize: 16 },
  )
  /** Ends the batch in flight after so many milliseconds. */
  const finish = async (tookMs = 10) => {
    await vi.advanceTimersByTimeAsync(tookMs)
    gates.shift()?.open()
    await vi.advanceTimersByTimeAsync(0)
  }
  return { batcher, batches, finish }
}

/** Numbers from `first` to `last`. */
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

test('maxSpacingMs, 12 items under load: the next batch starts later, with all that arrived', async () => {
  const { batcher, batches, finish } = spaced()
  const results = range(1, 12).map((item) => batcher.add(item))
  await finish()
  results.push(batcher.add(13))
  await vi.advanceTimersByTimeAsync(3)
  results.push(batcher.add(14))
  expect(batches).toEqual([[1]])
  await vi.advanceTimersByTimeAsync(1)
  expect(batches).toEqual([[1], range(2, 14)])
  await finish()
  expect(await Promise.all(results)).toEqual(range(1, 14))
})

test('maxSpacingMs, a batch that takes less: the next one starts as long after it as it took', async () => {
  const { batcher, batches, finish } = spaced()
  const results = range(1, 12).map((item) => batcher.add(item))
  await finish(2)
  await vi.advanceTimersByTimeAsync(1)
  expect(batches).toEqual([[1]])
  await vi.advanceTimersByTimeAsync(1)
  expect(batches).toEqual([[1], range(2, 12)])
  await finish()
  await Promise.all(results)
})

test('maxSpacingMs, fewer than 12 items: no delay', async () => {
  const { batcher, batches, finish } = spaced()
  const results = range(1, 11).map((item) => batcher.add(item))
  await finish()
  expect(batches).toEqual([[1], range(2, 11)])
  await finish()
  await Promise.all(results)
})

test('maxSpacingMs, one item after another, or two callers: no delay', async () => {
  const { batcher, batches, finish } = spaced()
  const first = [batcher.add(1), batcher.add(2)]
  await finish()
  expect(batches).toEqual([[1], [2]])
  await finish()
  await Promise.all(first)
  const last = batcher.add(3)
  expect(batches).toEqual([[1], [2], [3]])
  await finish()
  await last
})

test('maxSpacingMs, a whole batch is queued: no delay', async () => {
  const { batcher, batches, finish } = spaced()
  const results = range(1, 17).map((item) => batcher.add(item))
  await finish()
  expect(batches).toEqual([[1], range(2, 17)])
  await finish()
  await Promise.all(results)
})

test('maxSpacingMs, items queued for the next batch: idle only after it', async () => {
  const { batcher, batches, finish } = spaced()
  for (const item of range(1, 12)) void batcher.add(item)
  let isIdle = false
  const idle = batcher.whenIdle().then(() => {
    isIdle = true
  })
  await finish()
  await vi.advanceTimersByTimeAsync(4)
  expect(isIdle).toBe(false)
  await finish()
  await idle
  expect(batches).toEqual([[1], range(2, 12)])
})
