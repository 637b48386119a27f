import { expect, test } from 'vitest'
import { DAYLIGHT_CASES, NEW_YORK } from '../../test/daylight-cases.ts'
import { parseConfig } from './config.ts'
import { planMisfires } from './misfires.ts'
import { type AnchoredRecurrence, nextTick } from './recurrence.ts'

const HOUR_MS = 3_600_000

const anchored = (cron_expression: string, timezone: string): AnchoredRecurrence => ({
  recurrence: parseConfig(JSON.stringify({ type: 'cron', cron_expression, timezone })),
  anchor: new Date(0),
})

/** Ticks that are fired if the schedule is checked every `everyMs` from one time to another. */
function fired(clock: AnchoredRecurrence, from: Date, to: Date, everyMs: number): Date[] {
  const times: Date[] = []
  let due = nextTick(clock, from)
  for (let now = from.getTime(); now <= to.getTime() && due; now += everyMs) {
    if (due.getTime() > now) continue
    const { fire, next } = planMisfires(clock, due, new Date(now), HOUR_MS)
    if (fire) times.push(fire)
    due = next
  }
  return times
}

test.each(DAYLIGHT_CASES)(
  'T5: checks during the clock change fire the ticks of the golden table: $name',
  ({ expression, timezone, from, to, fires }) => {
    for (const everyMs of [1_000, 7 * 60_000])
      expect(fired(anchored(expression, timezone), from, to, everyMs)).toEqual(fires)
  },
)

test('T4, T5: outage during a clock change: the newest misfired tick fires once', () => {
  const clock = anchored('*/30 * * * *', NEW_YORK)
  const due = new Date('2026-11-01T05:00Z')
  expect(planMisfires(clock, due, new Date('2026-11-01T06:45Z'), HOUR_MS)).toEqual({
    fire: new Date('2026-11-01T06:30Z'),
    skipped: { first: due, last: new Date('2026-11-01T06:00Z') },
    next: new Date('2026-11-01T07:00Z'),
  })
})
