import { expect, test } from 'vitest'
import { parseConfig } from './config.ts'
import { planMisfires, ticksBefore } from './misfires.ts'
import { type AnchoredRecurrence, latestTick, nextTick } from './recurrence.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const at = (time: string) => new Date(`2026-11-21T${time}Z`)
const anchored = (config: object, anchor = at('12:00:00')): AnchoredRecurrence => ({
  recurrence: parseConfig(JSON.stringify(config)),
  anchor,
})
const every = (interval_seconds: number, more = {}) =>
  anchored({ type: 'interval', interval_seconds, ...more })

test('due tick: fires, and the next one is a multiple of the interval from the anchor', () => {
  expect(planMisfires(every(60), at('12:01:00'), at('12:01:00.250'), HOUR_MS)).toEqual({
    fire: at('12:01:00'),
    skipped: undefined,
    next: at('12:02:00'),
  })
})

test('misfired ticks: the newest fires and the others are skipped', () => {
  expect(planMisfires(every(60), at('12:01:00'), at('12:05:30'), HOUR_MS)).toEqual({
    fire: at('12:05:00'),
    skipped: { first: at('12:01:00'), last: at('12:04:00') },
    next: at('12:06:00'),
  })
})

test('tick due exactly now: fires', () => {
  expect(planMisfires(every(60), at('12:01:00'), at('12:02:00'), HOUR_MS)).toEqual({
    fire: at('12:02:00'),
    skipped: { first: at('12:01:00'), last: at('12:01:00') },
    next: at('12:03:00'),
  })
})

test('ticks older than the catch-up window: skipped', () => {
  const daily = anchored({ type: 'cron', cron_expression: '0 6 * * *' })
  expect(planMisfires(daily, at('06:00:00'), at('07:00:00'), HOUR_MS).fire).toEqual(at('06:00:00'))
  expect(planMisfires(daily, at('06:00:00'), at('07:00:00.001'), HOUR_MS)).toEqual({
    fire: undefined,
    skipped: { first: at('06:00:00'), last: at('06:00:00') },
    next: new Date('2026-11-22T06:00:00Z'),
  })
})

test('two years of misfired seconds: planned in constant time', () => {
  const later = new Date('2028-11-21T12:00:00.500Z')
  for (const seconds of [every(1), anchored({ type: 'cron', cron_expression: '* * * * * *' })]) {
    const started = performance.now()
    expect(planMisfires(seconds, at('12:00:01'), later, HOUR_MS)).toEqual({
      fire: new Date('2028-11-21T12:00:00Z'),
      skipped: { first: at('12:00:01'), last: new Date('2028-11-21T11:59:59Z') },
      next: new Date('2028-11-21T12:00:01Z'),
    })
    expect(performance.now() - started).toBeLessThan(20_000)
  }
})

test('once: no next tick', () => {
  const once = anchored({ type: 'once', run_time: '2026-11-21T13:00:00Z' })
  expect(planMisfires(once, at('13:00:00'), at('13:10:00'), HOUR_MS)).toEqual({
    fire: at('13:00:00'),
    skipped: undefined,
    next: undefined,
  })
})

test('interval with end_time: no tick after it', () => {
  const ending = every(60, { start_time: '2026-11-21T12:00:00Z', end_time: '2026-11-21T12:02:30Z' })
  expect(nextTick(ending, at('11:00:00'))).toEqual(at('12:00:00'))
  expect(planMisfires(ending, at('12:01:00'), at('12:10:00'), HOUR_MS)).toEqual({
    fire: at('12:02:00'),
    skipped: { first: at('12:01:00'), last: at('12:01:00') },
    next: undefined,
  })
})

test('ticks of a pause: its end is exclusive', () => {
  expect(ticksBefore(every(60), at('12:01:00'), at('12:03:00'))).toEqual({
    first: at('12:01:00'),
    last: at('12:02:00'),
  })
  expect(ticksBefore(every(60), at('12:01:00'), at('12:01:00'))).toBeUndefined()
})

const ZONES = ['UTC', 'America/New_York', 'Europe/London', 'Australia/Lord_Howe', 'Africa/Cairo']
const EXPRESSIONS = ['*/45 */2 * * *', '30 2 * * *', '15 1,2,3 * * *', '0 0 * * 1', '5 2 1-7 * *']
/** Times around each clock change of these zones in one year, and a week without one. */
const STRETCHES = [
  '2026-03-06',
  '2026-03-28',
  '2026-04-03',
  '2026-04-22',
  '2026-10-02',
  '2026-10-24',
  '2026-10-29',
]

const CASES = ZONES.flatMap((timezone) =>
  EXPRESSIONS.map((cron_expression) => ({ type: 'cron', cron_expression, timezone })),
)

function* ticks(clock: AnchoredRecurrence, from: Date, end: Date) {
  for (let tick = nextTick(clock, from); tick && tick < end; tick = nextTick(clock, tick))
    yield tick
}

test.each(CASES)('latestTick and nextTick agree: $cron_expression $timezone', (config) => {
  const clock = anchored(config)
  for (const stretch of STRETCHES) {
    const from = new Date(stretch)
    const forwards = [...ticks(clock, from, new Date(from.getTime() + 4 * DAY_MS))]
    for (const [i, tick] of forwards.entries()) {
      expect(latestTick(clock, tick)).toEqual(tick)
      if (i > 0) expect(latestTick(clock, new Date(tick.getTime() - 1))).toEqual(forwards[i - 1])
    }
  }
})
