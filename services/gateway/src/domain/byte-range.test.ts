import { expect, test } from 'vitest'
import { firstPart, rangeOf } from './byte-range.ts'

test.each([
  [undefined, undefined],
  ['', undefined],
  ['bytes=0-0', { start: 0, end: 0 }],
  ['bytes=2-5', { start: 2, end: 5 }],
  ['bytes=2-', { start: 2, end: 9 }],
  ['bytes=5-99', { start: 5, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-99', { start: 0, end: 9 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-2', undefined],
  ['bytes=-', undefined],
  ['bytes=0-1,3-4', undefined],
  ['bytes=a-b', undefined],
  ['lines=0-1', undefined],
  [`bytes=0-${'9'.repeat(16)}`, undefined],
])('Range %j of 10 bytes: %j', (header, expected) => {
  expect(rangeOf(header, 10)).toEqual(expected)
})

test.each([
  [undefined, [0, 4]],
  ['bytes=2-3', [2, 2]],
  ['bytes=2-99', [2, 4]],
  ['bytes=7-', [7, 4]],
  ['bytes=-3', [0, 4]],
  ['bytes=5-2', [0, 4]],
  ['bytes=0-1,3-4', [0, 4]],
  ['bytes=99999999999-', [0, 4]],
])('Range %j before the total is known, parts of 4 bytes: reads %j first', (header, expected) => {
  const { offset, length } = firstPart(header, 4)
  expect([offset, length]).toEqual(expected)
})
