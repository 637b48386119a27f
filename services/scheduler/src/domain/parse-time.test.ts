import { expect, test } from 'vitest'
import { parseTime } from './parse-time.ts'

test.each([
  ['2026-11-21T10:00:00Z', 'UTC', '2026-11-21T10:00:00.000Z'],
  ['2026-11-21t10:00:00z', 'Asia/Tokyo', '2026-11-21T10:00:00.000Z'],
  ['2026-11-21T10:00:00+02:00', 'UTC', '2026-11-21T08:00:00.000Z'],
  ['2026-11-21T10:00:00.123456-0530', 'UTC', '2026-11-21T15:30:00.123Z'],
  ['2026-11-21 10:00', 'UTC', '2026-11-21T10:00:00.000Z'],
  ['2026-11-21T10:00:00.5', 'America/New_York', '2026-11-21T15:00:00.500Z'],
  ['2030-01-23T00:00:00', 'Asia/Kolkata', '2030-01-22T18:30:00.000Z'],
  ['2026-12-31T23:30:00', 'America/New_York', '2027-01-01T04:30:00.000Z'],
  ['0001-01-01T00:00:00Z', 'UTC', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59Z', 'UTC', '9999-12-31T23:59:59.000Z'],
])('%s in %s: parsed as %s', (text, timezone, expected) => {
  expect(parseTime(text, timezone)?.toISOString()).toBe(expected)
})

test('local time in a gap: the first time after it; in a fold: the first of the two', () => {
  const zone = 'America/New_York'
  expect(parseTime('2026-03-08T02:30:00', zone)).toEqual(new Date('2026-03-08T07:00:00Z'))
  expect(parseTime('2026-11-01T01:30:00', zone)).toEqual(new Date('2026-11-01T05:30:00Z'))
})

test.each([
  '',
  'tomorrow',
  '2026-11-21',
  '2026-13-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-02-30T00:00:00',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:60:00Z',
  '10000-01-01T00:00:00Z',
  'Infinity',
  '1e3',
  '2026-01-01T00:00:00Z\n',
  '2026-01-01T00:00:00 UTC',
  '２０２６-01-01T00:00:00Z',
  '0000-01-01T00:00:00',
])('not a date and time: %j', (text) => {
  expect(parseTime(text, 'UTC')).toBeUndefined()
})
