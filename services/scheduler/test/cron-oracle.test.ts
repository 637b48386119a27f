import { expect, test } from 'vitest'
import { compareWithOracle } from './compare-with-oracle.ts'
import { FIXED, WILD } from './cron-oracle.ts'

const FROM = new Date('2026-01-01T00:00:00Z')
const TO = new Date('2027-01-01T00:00:00Z')
const ODD = ['America/New_York', 'Africa/Cairo', 'Antarctica/Troll', 'Australia/Lord_Howe']
/** Zones with clock changes of an hour and of half an hour. */
const HALVES = ['America/New_York', 'Australia/Lord_Howe']

test.each([
  ...FIXED.map((one) => [one, ODD] as const),
  ...WILD.map((one) => [one, HALVES] as const),
])('T5: a year of `%s`: equals a check of every minute', (expression, zones) => {
  let ticks = 0
  for (const timezone of zones) ticks += compareWithOracle(expression, timezone, FROM, TO)
  if (expression !== '0 3 29 2 *') expect(ticks).toBeGreaterThan(0)
})
