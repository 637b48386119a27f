import { expect, test } from 'vitest'
import { listClockChanges } from './clock-changes.ts'
import { parseConfig } from './config.ts'
import { listTransitions, toLocalText } from './zone.ts'

const FROM = new Date('2026-01-01T00:00:00Z')
const TO = new Date('2027-01-01T00:00:00Z')
const changes = (cron_expression: string, timezone: string) =>
  listClockChanges(
    {
      recurrence: parseConfig(JSON.stringify({ type: 'cron', cron_expression, timezone })),
      anchor: FROM,
    },
    FROM,
    TO,
  ).map(({ kind, at, local_times, fires_at }) => [
    kind,
    at.toISOString().slice(0, 16),
    local_times.map((time) => time.slice(5, 16)),
    fires_at.map((time) => time.toISOString().slice(5, 16)),
  ])

const GAP = '2026-03-08T07:00'
const FOLD = '2026-11-01T06:00'

test.each([
  ['30 2 * * *', 'America/New_York', [['gap', GAP, ['03-08T02:30'], ['03-08T07:00']]]],
  ['30 1 * * *', 'America/New_York', [['fold', FOLD, ['11-01T01:30'], ['11-01T05:30']]]],
  [
    '*/30 * * * *',
    'America/New_York',
    [
      ['gap', GAP, ['03-08T02:00', '03-08T02:30'], ['03-08T07:00']],
      [
        'fold',
        FOLD,
        ['11-01T01:00', '11-01T01:30'],
        ['11-01T05:00', '11-01T05:30', '11-01T06:00', '11-01T06:30'],
      ],
    ],
  ],
  ['0 12 * * *', 'America/New_York', []],
  ['30 2 * * 1', 'America/New_York', []],
  ['30 2 * * *', 'UTC', []],
  ['30 2 * * *', 'Asia/Kathmandu', []],
  ['0 0 * * *', 'Africa/Cairo', [['gap', '2026-04-23T22:00', ['04-24T00:00'], ['04-23T22:00']]]],
  [
    '15 2 * * *',
    'Australia/Lord_Howe',
    [['gap', '2026-10-03T15:30', ['10-04T02:15'], ['10-03T15:30']]],
  ],
])('clock changes of %s in %s in 2026: %j', (expression, timezone, expected) => {
  expect(changes(expression, timezone)).toEqual(expected)
})

test('interval and once: no clock changes', () => {
  for (const config of [
    { type: 'interval', interval_seconds: 3_600, timezone: 'America/New_York' },
    { type: 'once', run_time: '2026-03-08T02:30:00', timezone: 'America/New_York' },
  ]) {
    const anchored = { recurrence: parseConfig(JSON.stringify(config)), anchor: FROM }
    expect(listClockChanges(anchored, FROM, TO)).toEqual([])
  }
})

test('offset changes of a zone: found to the second', () => {
  expect(listTransitions('Europe/Berlin', FROM, TO)).toEqual([
    { at: new Date('2026-03-29T01:00:00Z'), beforeMs: 3_600_000, afterMs: 7_200_000 },
    { at: new Date('2026-10-25T01:00:00Z'), beforeMs: 7_200_000, afterMs: 3_600_000 },
  ])
})

test.each([
  ['UTC', '2026-01-01T00:00:00+00:00'],
  ['America/St_Johns', '2025-12-31T20:30:00-03:30'],
  ['Asia/Kathmandu', '2026-01-01T05:45:00+05:45'],
])('local time in %s: %s', (timezone, text) => {
  expect(toLocalText(timezone, FROM)).toBe(text)
})
