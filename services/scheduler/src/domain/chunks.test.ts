import { expect, test } from 'vitest'
import { chunkByBytes } from './chunks.ts'

const cut = (sizes: number[]) => chunkByBytes(sizes, (size) => size, { items: 3, bytes: 10 })

test.each([
  [[], []],
  [[1], [[1]]],
  [
    [1, 1, 1, 1],
    [[1, 1, 1], [1]],
  ],
  [
    [6, 4, 1],
    [[6, 4], [1]],
  ],
  [
    [50, 1, 50],
    [[50], [1], [50]],
  ],
])('%j is cut into %j', (sizes, expected) => {
  expect(cut(sizes)).toEqual(expected)
})
