import { expect, test } from 'vitest'
import { autoNames, parseScheduleName } from './schedule-names.ts'

test.each(['nightly', 'every day at 5', 'Überprüfung', 'a:b*c', '💡', 'x'.repeat(255), '...'])(
  'valid name: %j',
  (name) => {
    expect(parseScheduleName(name)).toBe(name)
  },
)

test('names: normalized to NFC', () => {
  expect(parseScheduleName('u\u0308ber')).toBe('\u00fcber')
})

test.each([
  '',
  ' ',
  '.',
  '..',
  'a/b',
  '../x',
  ' a',
  'a ',
  'a\nb',
  'a\u0000',
  'a\u2028b',
  'a\u200bb',
  '\ud800',
  'x'.repeat(256),
  '0123456789abcdef0123456789abcdef',
  '00000000-0000-4000-8000-000000000000',
  '00000000-0000-4000-8000-00000000000F',
  'forecast',
])('invalid name: %j', (name) => {
  expect(() => parseScheduleName(name)).toThrow(expect.objectContaining({ kind: 'unprocessable' }))
})

test('declared schedule: named after its workflow', () => {
  expect(autoNames('team', 'report')).toEqual(['report_auto', 'team.report_auto'])
})
