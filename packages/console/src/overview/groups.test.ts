import { expect, test } from 'vitest'
import { filterOf, groupRows } from './groups.ts'

const bucket = (group: string | null, started: number, ended = 0, failed = 0) => ({
  ...{ group, at: '', started, ended, failed },
  ...{ queue_wait: null, run_time: null },
})

test('steps of several groups: one row each, the largest first', () => {
  const buckets = [bucket('a', 1, 1), bucket('b', 2), bucket('a', 3, 2, 1)]
  expect(groupRows({ buckets })).toEqual([
    { name: 'a', started: 4, ended: 3, failed: 1 },
    { name: 'b', started: 2, ended: 0, failed: 0 },
  ])
})

test.each([
  ['workflow', 'default/a/b', { namespace: 'default', workflow_name: 'a/b' }],
  ['worker', 'w-1', { worker_name: 'w-1' }],
  ['error', 'x'.repeat(300), { error: 'x'.repeat(255), state: 'FAILED', created_after: '2026' }],
  ['worker', '', undefined],
] as const)('%s %s: the filter that finds its executions', (group, name, filter) => {
  expect(filterOf(group, name, '2026')).toEqual(filter)
})
