import { expect, test } from 'vitest'
import { firstTick, parseConfig } from './config.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const read = (config: unknown) => firstTick(parseConfig(JSON.stringify(config)), NOW).toISOString()

test.each([
  [
    { type: 'cron', cron_expression: '0 9 * * *', timezone: 'America/New_York' },
    '2026-11-21T14:00:00.000Z',
  ],
  [{ type: 'cron', cron_expression: '0 9 * * *', timezone: null }, '2026-11-22T09:00:00.000Z'],
  [{ type: 'interval', interval_seconds: 90 }, '2026-11-21T12:01:30.000Z'],
  [
    { type: 'interval', interval_seconds: 1.5, timezone: 'UTC', last_run_time: null },
    '2026-11-21T12:00:01.500Z',
  ],
  [
    { type: 'interval', interval_seconds: 60, start_time: '2027-01-01T00:00:00Z' },
    '2027-01-01T00:00:00.000Z',
  ],
  [
    { type: 'interval', interval_seconds: 60, start_time: '2026-11-21T11:59:30Z' },
    '2026-11-21T12:00:30.000Z',
  ],
  [
    { type: 'once', run_time: '2026-11-21T13:00:00+00:00', executed: false },
    '2026-11-21T13:00:00.000Z',
  ],
  [{ type: 'once', run_time: '2026-11-21T13:00:00', timezone: 'Europe/Berlin' }, undefined],
  [{ type: 'once', run_time: '9999-12-31T00:00:00Z' }, '9999-12-31T00:00:00.000Z'],
])('configuration %j: first tick at %s', (config, expected) => {
  if (expected) expect(read(config)).toBe(expected)
  else expect(() => read(config)).toThrow('is in the past')
})

test.each([
  ['type', {}],
  ['type', { type: 'weekly' }],
  ['type', { type: '__proto__' }],
  ['type', { type: ['cron'] }],
  ['cron_expression', { type: 'cron' }],
  ['cron_expression', { type: 'cron', cron_expression: 5 }],
  ['cron_expression', { type: 'cron', cron_expression: 'every day' }],
  ['cron_expression', { type: 'cron', cron_expression: '0 0 30 2 *' }],
  ['cron_expression', { type: 'cron', cron_expression: '* * 30 2 *' }],
  ['timezone', { type: 'cron', cron_expression: '* * * * *', timezone: 'Mars/Olympus' }],
  ['timezone', { type: 'cron', cron_expression: '* * * * *', timezone: 'local' }],
  ['timezone', { type: 'cron', cron_expression: '* * * * *', timezone: '' }],
  ['timezone', { type: 'cron', cron_expression: '* * * * *', timezone: '../etc/localtime' }],
  ['seconds', { type: 'interval', interval_seconds: 60, seconds: 60 }],
  ['__proto__', JSON.parse('{"type":"once","__proto__":{"run_time":"2027-01-01T00:00:00Z"}}')],
  ['interval_seconds', { type: 'interval' }],
  ['interval_seconds', { type: 'interval', interval_seconds: 'soon' }],
  ['interval_seconds', { type: 'interval', interval_seconds: '5' }],
  ['interval_seconds', { type: 'interval', interval_seconds: true }],
  ['interval_seconds', { type: 'interval', interval_seconds: 0 }],
  ['interval_seconds', { type: 'interval', interval_seconds: -5 }],
  ['interval_seconds', { type: 'interval', interval_seconds: 0.001 }],
  ['interval_seconds', { type: 'interval', interval_seconds: 1e18 }],
  ['start_time', { type: 'interval', interval_seconds: 60, start_time: 'now' }],
  ['end_time', { type: 'interval', interval_seconds: 60, end_time: '2026-01-01T00:00:00Z' }],
  ['overlap', { type: 'interval', interval_seconds: 60, overlap: 'sometimes' }],
  ['overlap', { type: 'once', run_time: '2027-01-01T00:00:00Z', overlap: 1 }],
  ['run_time', { type: 'once' }],
  ['run_time', { type: 'once', run_time: 'tomorrow' }],
  ['run_time', { type: 'once', run_time: 1_800_000_000 }],
  ['run_time', { type: 'once', run_time: '2026-11-21T11:59:59Z' }],
])('invalid %s: named in the error: %j', (member, config) => {
  expect(() => read(config)).toThrow(
    expect.objectContaining({
      kind: 'unprocessable',
      message: expect.stringContaining(`schedule_config.${member} `),
      details: {
        problems: [expect.objectContaining({ loc: ['body', 'schedule_config', member] })],
      },
    }),
  )
})

test.each([
  '',
  '{',
  'null',
  '[]',
  '"daily"',
  '5',
  '{"type":"interval","interval_seconds":NaN}',
  `{"a":"${'x'.repeat(20_000)}"}`,
])('not a JSON object: refused: %.40s', (json) => {
  expect(() => parseConfig(json)).toThrow(
    expect.objectContaining({
      kind: 'unprocessable',
      details: { problems: [expect.objectContaining({ loc: ['body', 'schedule_config'] })] },
    }),
  )
})
