import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseConfig } from './config.ts'
import { planMisfires } from './misfires.ts'
import { type AnchoredRecurrence, latestTick, listTicks, nextTick } from './recurrence.ts'

const HOUR_MS = 3_600_000
const ANCHOR = new Date('2026-01-01T00:00:00.250Z')

const moment = fc
  .date({ min: new Date('2026-01-02'), max: new Date('2028-12-30'), noInvalidDate: true })
  .map((date) => new Date(date))

const interval = fc.record({
  type: fc.constant('interval'),
  interval_seconds: fc.oneof(
    fc.integer({ min: 1, max: 100_000 }),
    fc.double({ min: 1, max: 90, noNaN: true }),
  ),
})
const cron = fc.record({
  type: fc.constant('cron'),
  cron_expression: fc.constantFrom(
    ...['* * * * *', '*/7 * * * *', '30 2 * * *', '0 0 1 * *', '15 1-3 * * 0', '0 12 L * 5'],
    '5 4 3 2 * 1,31',
  ),
  timezone: fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo'),
})

const anchored = fc.oneof(interval, cron).map(
  (config): AnchoredRecurrence => ({
    recurrence: parseConfig(JSON.stringify(config)),
    anchor: ANCHOR,
  }),
)

test('next tick: strictly later, with no tick in between', () => {
  fc.assert(
    fc.property(anchored, moment, (clock, after) => {
      const next = nextTick(clock, after) as Date
      expect(next.getTime()).toBeGreaterThan(after.getTime())
      expect(latestTick(clock, next)).toEqual(next)
      const before = latestTick(clock, new Date(next.getTime() - 1))
      if (before) expect(before.getTime()).toBeLessThanOrEqual(after.getTime())
    }),
    { numRuns: 300 },
  )
})

test('start at any time between two ticks: the same ticks follow', () => {
  fc.assert(
    fc.property(
      anchored,
      moment,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (clock, after, share) => {
        const [first, second, third] = listTicks(clock, after, new Date(8.64e15), 3) as [
          Date,
          Date,
          Date,
        ]
        const between = new Date(
          first.getTime() + Math.floor(share * (second.getTime() - first.getTime() - 1)),
        )
        expect(listTicks(clock, between, new Date(8.64e15), 2)).toEqual([second, third])
      },
    ),
    { numRuns: 300 },
  )
})

test('T9: late ticks: each is a whole number of intervals from the anchor', () => {
  fc.assert(
    fc.property(
      interval,
      fc.array(fc.nat(5_000), { minLength: 1, maxLength: 50 }),
      (config, delays) => {
        const clock = { recurrence: parseConfig(JSON.stringify(config)), anchor: ANCHOR }
        const everyMs = Math.round(config.interval_seconds * 1_000)
        let due = nextTick(clock, ANCHOR) as Date
        for (const delay of delays) {
          expect((due.getTime() - ANCHOR.getTime()) % everyMs).toBe(0)
          const { next } = planMisfires(clock, due, new Date(due.getTime() + delay), HOUR_MS)
          due = next as Date
        }
      },
    ),
  )
})

test('T2, T4: misfired ticks: each is fired or skipped, none both, and the next tick is later', () => {
  fc.assert(
    fc.property(anchored, moment, fc.integer({ min: 0, max: 400_000 }), (clock, start, lateMs) => {
      const due = nextTick(clock, start) as Date
      const now = new Date(due.getTime() + lateMs)
      const { fire, skipped, next } = planMisfires(clock, due, now, HOUR_MS)
      const all = [due, ...listTicks(clock, due, now, 1_000)]
      const left = fire ? all.filter((tick) => +tick !== +fire) : all
      expect(skipped).toEqual(left.length > 0 ? { first: left[0], last: left.at(-1) } : undefined)
      expect(fire).toEqual(all.at(-1))
      expect(next).toEqual(nextTick(clock, now))
    }),
    { numRuns: 300 },
  )
})
