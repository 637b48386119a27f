import { expect, test } from 'vitest'
import { planSweep, type RetentionRules, retentionDaysOf } from './sweep-plan.ts'

const rules: RetentionRules = {
  retention_days: 30,
  namespaces: { prod: 365, test: 0.5, kept: 0 },
  workflows: { 'prod/ping': 1, 'kept/report': 2, 'other/report': 0 },
  max_executions: 0,
  log_days: 0,
}

const workflow = (text: string) => {
  const [workflow_namespace = '', workflow_name = ''] = text.split('/')
  return { workflow_namespace, workflow_name }
}

test.each([
  ['other/ping', 30],
  ['prod/report', 365],
  ['prod/ping', 1],
  ['test/ping', 0.5],
  ['kept/ping', 0],
  ['kept/report', 2],
  ['other/report', 0],
])('%s: deleted after %d days', (name, days) => {
  expect(retentionDaysOf(rules, workflow(name))).toBe(days)
})

test('no age: the executions of a workflow are kept', () => {
  expect(planSweep(rules, [workflow('kept/ping'), workflow('prod/ping')])).toEqual([
    { rule: 'executions', workflow: workflow('prod/ping'), days: 1 },
  ])
})

test('logs: a rule of their own where their executions are kept longer', () => {
  const planned = planSweep({ ...rules, log_days: 7 }, ['kept/ping', 'prod/ping'].map(workflow))
  expect(planned).toEqual([
    { rule: 'logs', workflow: workflow('kept/ping'), days: 7 },
    { rule: 'executions', workflow: workflow('prod/ping'), days: 1 },
  ])
})

test('a maximum: the rest is decided after the ages', () => {
  const planned = planSweep({ ...rules, max_executions: 5 }, [workflow('prod/ping')])
  expect(planned.map(({ rule }) => rule)).toEqual(['executions', 'excess'])
})
