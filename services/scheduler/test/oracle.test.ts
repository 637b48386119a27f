import { expect, test } from 'vitest'
import { compare } from './against-oracle.ts'
import { FIXED, WILD } from './oracle.ts'

const FROM = new Date('2026-01-01T00:00:00Z')
const TO = new Date('2027-01-01T00:00:00Z')
const ODD = ['America/New_York', 'Africa/Cairo', 'Antarctica/Troll', 'Australia/Lord_Howe']

test.each([...FIXED, ...WILD])(
  'a year of `%s` is what looking at every minute finds (T5)',
  (expression) => {
    let ticks = 0
    for (const timezone of ODD) ticks += compare(expression, timezone, FROM, TO)
    if (expression !== '0 3 29 2 *') expect(ticks).toBeGreaterThan(0)
  },
)
