import { expect, test } from 'vitest'
import { chunkBySize } from './chunk-by-size.ts'

test.each<[string, number[], number[][]]>([
  ['no items', [], []],
  ['one item', [1], [[1]]],
  ['more items than maxItems', [1, 1, 1, 1], [[1, 1, 1], [1]]],
  ['exactly maxSize', [6, 4, 1], [[6, 4], [1]]],
  ['items larger than maxSize', [50, 1, 50], [[50], [1], [50]]],
])('%s: chunks keep the order and both limits', (_, sizes, expected) => {
  expect(chunkBySize(sizes, { sizeOf: (size) => size, maxSize: 10, maxItems: 3 })).toEqual(expected)
})

test('no maxItems: only the size splits', () => {
  const ones = Array(10).fill(1)
  expect(chunkBySize(ones, { sizeOf: Number, maxSize: 10 })).toEqual([ones])
})
