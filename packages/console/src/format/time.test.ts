import { expect, test } from 'vitest'
import { ago, bytes, count, duration, millis } from './time.ts'

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_000, '1.0 s'],
  [9_999, '9.9 s'],
  [59_999, '59 s'],
  [60_000, '1 m 00 s'],
  [3_599_999, '59 m 59 s'],
  [3_600_000, '1 h 00 m'],
  [86_400_000, '1 d 0 h'],
  [-5, '0 ms'],
  [Number.NaN, '–'],
])('a duration of %d ms: %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test.each([
  [0, 'now'],
  [5_000, '5 s ago'],
  [61_000, '1 m ago'],
  [7_200_000, '2 h ago'],
  [172_800_000, '2 d ago'],
  [-90_000, 'in 1 m'],
])('a time %d ms before now: %s', (before, text) => {
  expect(ago(1_000_000_000_000 - before, 1_000_000_000_000)).toBe(text)
})

test('times that are missing or no times: undefined', () => {
  expect([millis(null), millis(''), millis('soon')]).toEqual([undefined, undefined, undefined])
  expect(millis('1970-01-01T00:00:01Z')).toBe(1_000)
})

test('sizes and counts: binary units, groups of three', () => {
  expect([0, 1_023, 1_024, 16_777_216].map(bytes)).toEqual(['0 B', '1023 B', '1.0 KiB', '16.0 MiB'])
  expect([999, 1_000, 1_234_567].map(count)).toEqual(['999', '1\u202f000', '1\u202f234\u202f567'])
})
