import { CronError } from '@windlass/domain/cron'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAYLIGHT_CASES } from '../../test/daylight-cases.ts'
import { compileCron } from './cron.ts'

const runs = (expression: string, count: number) =>
  compileCron(expression, 'UTC')
    .nextRuns(count, new Date('2026-01-01T00:00:00Z'))
    .map((date) => date.toISOString().slice(0, 19))

test.each(DAYLIGHT_CASES)('T5: golden table: $name', ({ expression, timezone, from, fires }) => {
  expect(compileCron(expression, timezone).nextRuns(fires.length, from)).toEqual(fires)
})

test.each([
  ['seconds are the sixth field', '30 4 * * * 15', ['2026-01-01T04:30:15', '2026-01-02T04:30:15']],
  [
    'names of months and days in any case',
    '0 0 * JUL Mon',
    ['2026-07-06T00:00:00', '2026-07-13T00:00:00'],
  ],
  ['0 and 7 are both Sunday', '0 0 * * 7', ['2026-01-04T00:00:00', '2026-01-11T00:00:00']],
  [
    'lists, ranges and steps',
    '0,30 8-12/2 1 1 *',
    ['2026-01-01T08:00:00', '2026-01-01T08:30:00', '2026-01-01T10:00:00'],
  ],
  [
    'a step from a value',
    '5/20 0 * * *',
    ['2026-01-01T00:05:00', '2026-01-01T00:25:00', '2026-01-01T00:45:00', '2026-01-02T00:05:00'],
  ],
  ['the last day of the month', '0 0 L * *', ['2026-01-31T00:00:00', '2026-02-28T00:00:00']],
  ['the third Friday', '0 0 * * 5#3', ['2026-01-16T00:00:00', '2026-02-20T00:00:00']],
  ['the last Friday', '0 0 * * l5', ['2026-01-30T00:00:00', '2026-02-27T00:00:00']],
  ['a question mark for any day', '0 0 ? 2 ?', ['2026-02-01T00:00:00', '2026-02-02T00:00:00']],
  ['29 February', '0 0 29 2 *', ['2028-02-29T00:00:00', '2032-02-29T00:00:00']],
  ['@hourly', '@hourly', ['2026-01-01T01:00:00', '2026-01-01T02:00:00']],
  ['@daily', ' @Daily ', ['2026-01-02T00:00:00', '2026-01-03T00:00:00']],
  ['@midnight', '@midnight', ['2026-01-02T00:00:00', '2026-01-03T00:00:00']],
  ['@weekly', '@weekly', ['2026-01-04T00:00:00', '2026-01-11T00:00:00']],
  ['@monthly', '@monthly', ['2026-02-01T00:00:00', '2026-03-01T00:00:00']],
  ['@yearly', '@yearly', ['2027-01-01T00:00:00', '2028-01-01T00:00:00']],
  ['@annually', '@annually', ['2027-01-01T00:00:00', '2028-01-01T00:00:00']],
])('supported syntax: %s', (_, expression, expected) => {
  expect(runs(expression, expected.length)).toEqual(expected)
})

test.each([
  '',
  '*',
  '* * *',
  '* * * *',
  '* * * * * * *',
  'every day',
  '@reboot',
  '@fortnightly',
  'L',
  '60 * * * *',
  '0 24 * * *',
  '0 0 0 * *',
  '0 0 30 2 *',
  '* * 30,31 feb ?',
  '0 0 31 2,4,6,9,11 *',
  '0 0 31 4-6/2 * 30',
  '0 0 32 * *',
  '0 0 * 0 *',
  '0 0 * 13 *',
  '0 0 * * 8',
  '0 0 * * * 60',
  '*/0 * * * *',
  '*/61 * * * *',
  '*/999999999999 * * * *',
  '1-99999999 * * * *',
  '5-1 * * * *',
  '1,,2 * * * *',
  ', * * * *',
  '- * * * *',
  '-1 * * * *',
  '1.5 * * * *',
  '? * * * *',
  '0 0 15W * *',
  '0 0 1 * +MON',
  '0 0 * * 5#6',
  '0 0 * * 5#0',
  'H * * * *',
  'R * * * *',
  '٣ * * * *',
  '0 0 * * *\n0',
  '0 0 * FOO *',
  'MON 0 * * *',
  '0 0 * * * *; rm',
  '* '.repeat(600_000),
])('invalid cron expression: %j', (expression) => {
  expect(() => compileCron(expression, 'UTC')).toThrow(
    expect.objectContaining({ name: 'CronError' }),
  )
})

const digits = (least: number, most: number) => fc.integer({ min: least, max: most }).map(String)
const ITEMS = [
  digits(0, 60),
  digits(0, 24),
  fc.oneof(digits(0, 32), fc.constantFrom('L', '?')),
  fc.oneof(digits(0, 13), fc.constantFrom('feb', 'JUN')),
  fc.oneof(digits(0, 8), fc.constantFrom('sun', 'FRI', '5#3', 'L5', '?')),
  digits(0, 60),
]

/** Random fields of items, ranges, steps and lists; many are invalid. */
const expressions = fc
  .tuple(
    ...ITEMS.map((item) =>
      fc.oneof(
        { weight: 3, arbitrary: fc.constant('*') },
        { weight: 3, arbitrary: item },
        fc.tuple(item, item).map((two) => two.join('-')),
        fc.tuple(item, item).map((two) => two.join(',')),
        fc.tuple(fc.constantFrom('*', '5', '2-9'), digits(0, 70)).map((two) => two.join('/')),
      ),
    ),
  )
  .map((fields) => fields.join(' '))

test('random expressions: an accepted one has a next run, and one that never fires is refused', () => {
  let taken = 0
  fc.assert(
    fc.property(expressions, (expression) => {
      let cron: ReturnType<typeof compileCron>
      try {
        cron = compileCron(expression, 'UTC')
      } catch (error) {
        expect(error).toBeInstanceOf(CronError)
        return
      }
      taken++
      expect(cron.nextRun(new Date('2026-01-01'))).toBeInstanceOf(Date)
    }),
    { numRuns: 3_000 },
  )
  expect(taken).toBeGreaterThan(100)
})
