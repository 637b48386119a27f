import { expect, test } from 'vitest'
import { rangeOf, stepsBetween } from './range.ts'

const NOW = Date.parse('2026-11-23T12:34:56Z')
const at = (text: string) => Date.parse(`2026-11-${text}Z`)

test.each([
  ['', at('23T11:34:00'), at('23T12:35:00'), 60],
  ['range=24h', at('22T12:00:00'), at('23T13:00:00'), 3_600],
  ['range=unknown', at('23T11:34:00'), at('23T12:35:00'), 60],
  [
    'created_after=2026-11-23T12:00:00Z&created_before=2026-11-23T12:00:30Z',
    at('23T12:00:00'),
    at('23T12:00:30'),
    1,
  ],
  ['created_after=2026-11-23T12:34:55.5Z', at('23T12:34:55'), at('23T12:34:56'), 1],
  ['created_after=2027-01-01T00:00:00Z', Date.parse('2027-01-01T00:00:00Z'), undefined, 1],
])('%s: a range of whole steps', (query, from, to, step) => {
  const range = rangeOf(new URLSearchParams(query), NOW)
  expect(range).toEqual({ from, to: to ?? range.from + 1_000, step })
})

test('a part of the chart: the steps that it touches, in either direction', () => {
  const range = { from: 0, to: 10_000, step: 1 }
  expect(stepsBetween(range, 0.25, 0.5)).toEqual({ from: 2_000, to: 5_000 })
  expect(stepsBetween(range, 0.5, 0.25)).toEqual({ from: 2_000, to: 5_000 })
  expect(stepsBetween(range, 0.31, 0.31)).toEqual({ from: 3_000, to: 4_000 })
  expect(stepsBetween(range, -3, 9)).toEqual({ from: 0, to: 10_000 })
  expect(stepsBetween(range, 1, 1)).toEqual({ from: 9_000, to: 10_000 })
})
