import { expect, test } from 'vitest'
import { compareWithOracle } from '../../services/scheduler/test/compare-with-oracle.ts'
import { FIXED, listOffsetChanges, WILD, ZONES } from '../../services/scheduler/test/cron-oracle.ts'

const FROM = new Date('2020-01-01T00:00:00Z')
const TO = new Date('2030-01-01T00:00:00Z')
const WEEK_MS = 7 * 86_400_000

test.each(ZONES)(
  'T5: fixed times in %s over ten years: equal to a scan of every minute',
  (zone) => {
    let ticks = 0
    for (const expression of FIXED) ticks += compareWithOracle(expression, zone, FROM, TO)
    expect(ticks).toBeGreaterThan(10_000)
  },
)

test.each(ZONES)(
  'T5: wildcards in %s: equal to a scan of the weeks of clock changes and one week a year',
  (zone) => {
    const ordinary = Array.from({ length: 10 }, (_, i) => Date.UTC(2020 + i, 6, 1))
    const set = listOffsetChanges(zone, FROM, TO)
    let ticks = 0
    for (const middle of [...ordinary, ...set]) {
      const from = new Date(middle - WEEK_MS / 2)
      const to = new Date(middle + WEEK_MS / 2)
      for (const expression of WILD) ticks += compareWithOracle(expression, zone, from, to)
    }
    expect(ticks).toBeGreaterThan(10 * 7 * 24)
  },
)
