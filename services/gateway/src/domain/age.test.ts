import { expect, test } from 'vitest'
import { ageOf } from './age.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

test.each([
  ['P1D', 24 * HOUR],
  ['PT1H', HOUR],
  ['PT90S', 90 * SECOND],
  ['P1DT2H3M4S', 26 * HOUR + 184 * SECOND],
  ['PT0S', 0],
])('the duration %s: %i ms', (text, expected) => expect(ageOf(text)).toBe(expected))

test.each(['', 'P', 'PT', 'P1', '1D', 'P1H', 'PT1D', 'P-1D', 'P1DT', 'P1.5D', 'p1d', 'PT1S1M'])(
  'the invalid duration %j: undefined',
  (text) => expect(ageOf(text)).toBeUndefined(),
)
