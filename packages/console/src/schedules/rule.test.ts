import { expect, test } from 'vitest'
import { configOf, kindOf, ruleOf } from './rule.ts'

test('a form of each kind: the configuration that the server takes', () => {
  const typed = { rule: '0 9 * * *', timezone: '' }
  expect(configOf(kindOf('cron'), typed)).toEqual({
    type: 'cron',
    cron_expression: '0 9 * * *',
    timezone: 'UTC',
  })
  expect(configOf(kindOf('interval'), { rule: '1.5', timezone: '' })).toMatchObject({
    interval_seconds: 1.5,
  })
})

test('a change within a kind: members that the form does not show stay; of another kind they go', () => {
  const earlier = { type: 'interval', interval_seconds: 5, end_time: '2030-01-01T00:00:00Z' }
  const typed = { rule: '9', timezone: 'Europe/Berlin' }
  expect(configOf(kindOf('interval'), typed, earlier)).toEqual({
    ...{ type: 'interval', interval_seconds: 9, timezone: 'Europe/Berlin' },
    end_time: '2030-01-01T00:00:00Z',
  })
  expect(configOf(kindOf('cron'), typed, earlier)).not.toHaveProperty('end_time')
})

test('rules: as they were written', () => {
  const texts = [
    { type: 'cron', cron_expression: '0 9 * * *' },
    { type: 'interval', interval_seconds: 60 },
    { type: 'once', run_time: '2030-01-01T00:00:00Z' },
  ].map((schedule_config) => ruleOf({ schedule_type: schedule_config.type, schedule_config }))
  expect(texts).toEqual(['0 9 * * * UTC', 'every 60 s', 'once at 2030-01-01T00:00:00Z'])
})
