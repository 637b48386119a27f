import { expect, test } from 'vitest'
import { endInTurn } from './end-in-turn.ts'

/** Ends as many streams; returns the times of their ends in milliseconds after the first. */
async function endsOf(count: number, maxMs: number): Promise<number[]> {
  const ends: number[] = []
  const open = Array.from({ length: count }, (_, i) => i)
  const order: number[] = []
  const end = (stream: number) => {
    order.push(stream)
    ends.push(performance.now())
  }
  await endInTurn(open, end, maxMs)
  expect(order).toEqual(open)
  return ends.map((at) => at - (ends[0] ?? 0))
}

test('no stream: ends at once', async () => {
  expect(await endsOf(0, 1_000)).toEqual([])
})

test('some streams: each ends, over 12 ms for each', async () => {
  const ends = await endsOf(20, 10_000)
  expect(ends.at(-1)).toBeGreaterThan(180)
})

test('more streams than fit into the time: all end within it, some together', async () => {
  const ends = await endsOf(1_000, 200)
  expect(ends.at(-1)).toBeGreaterThan(100)
  expect(new Set(ends.map((at) => Math.round(at / 10))).size).toBeGreaterThan(3)
})
