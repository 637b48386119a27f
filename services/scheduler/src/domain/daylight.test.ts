import { expect, test } from 'vitest'
import { parseConfig } from './config.ts'
import { plan } from './plan.ts'
import { type Clockwork, nextTick } from './recurrence.ts'

const HOUR_MS = 3_600_000

const clockwork = (cron_expression: string, timezone: string): Clockwork => ({
  recurrence: parseConfig(JSON.stringify({ type: 'cron', cron_expression, timezone })),
  anchor: new Date(0),
})

/** What a scheduler fires whose clock is faked: it looks every so often, from one moment to another. */
function fired(clock: Clockwork, from: Date, to: Date, everyMs: number): string[] {
  const times: string[] = []
  let due = nextTick(clock, from)
  for (let now = from.getTime(); now <= to.getTime() && due; now += everyMs) {
    if (due.getTime() > now) continue
    const { fire, next } = plan(clock, due, new Date(now), HOUR_MS)
    if (fire) times.push(fire.toISOString().slice(5, 16))
    due = next
  }
  return times
}

const NEW_YORK = 'America/New_York'

/** The golden table: the expression, its zone, when the clock starts and stops, and what is to fire. */
const GOLDEN: [string, string, string, string, string[]][] = [
  [
    '30 2 * * *',
    NEW_YORK,
    '2026-03-07T08:00Z',
    '2026-03-09T12:00Z',
    ['03-08T07:00', '03-09T06:30'],
  ],
  [
    '0 * * * *',
    NEW_YORK,
    '2026-03-08T05:30Z',
    '2026-03-08T08:30Z',
    ['03-08T06:00', '03-08T07:00', '03-08T08:00'],
  ],
  [
    '30 1 * * *',
    NEW_YORK,
    '2026-10-31T06:00Z',
    '2026-11-02T12:00Z',
    ['11-01T05:30', '11-02T06:30'],
  ],
  [
    '*/30 * * * *',
    NEW_YORK,
    '2026-11-01T04:45Z',
    '2026-11-01T07:15Z',
    ['11-01T05:00', '11-01T05:30', '11-01T06:00', '11-01T06:30', '11-01T07:00'],
  ],
  [
    '0 0 * * *',
    'Africa/Cairo',
    '2026-04-22T00:00Z',
    '2026-04-25T00:00Z',
    ['04-22T22:00', '04-23T22:00', '04-24T21:00'],
  ],
  [
    '45 1 * * *',
    'Australia/Lord_Howe',
    '2026-04-03T00:00Z',
    '2026-04-06T00:00Z',
    ['04-03T14:45', '04-04T14:45', '04-05T15:15'],
  ],
  [
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-02T00:00Z',
    '2026-10-05T00:00Z',
    ['10-02T15:45', '10-03T15:30', '10-04T15:15'],
  ],
  [
    '0 0 13 * 5',
    'UTC',
    '2026-01-01T00:00Z',
    '2026-01-17T00:00Z',
    ['01-02T00:00', '01-09T00:00', '01-13T00:00', '01-16T00:00'],
  ],
  ['0 9 * * *', NEW_YORK, '2026-01-01T00:00Z', '2026-01-02T00:00Z', ['01-01T14:00']],
]

test.each(GOLDEN)(
  'a faked clock that goes through it fires `%s` in %s from %s to %s at %j (T5)',
  (...row) => {
    const [expression, timezone, from, to, expected] = row
    for (const everyMs of [1_000, 7 * 60_000])
      expect(fired(clockwork(expression, timezone), new Date(from), new Date(to), everyMs)).toEqual(
        expected,
      )
  },
)

test('who sleeps through a change of the clock fires the newest of what was missed, once (T4, T5)', () => {
  const clock = clockwork('*/30 * * * *', NEW_YORK)
  const due = new Date('2026-11-01T05:00Z')
  expect(plan(clock, due, new Date('2026-11-01T06:45Z'), HOUR_MS)).toEqual({
    fire: new Date('2026-11-01T06:30Z'),
    skipped: { first: due, last: new Date('2026-11-01T06:00Z') },
    next: new Date('2026-11-01T07:00Z'),
  })
})
