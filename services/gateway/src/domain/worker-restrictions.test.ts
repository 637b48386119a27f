import { expect, test } from 'vitest'
import { firstRefusedField, type Restrictions } from './worker-restrictions.ts'

const claims = {
  name: 'team-a-1',
  labels: { zone: 'a' },
  max_concurrent_executions: 4,
  resources: { cpu_total: 4, memory_total: 100, disk_total: 10, gpus: [{}] },
}

test('no restrictions: everything is allowed', () => {
  expect(firstRefusedField(claims, {})).toBeUndefined()
  expect(firstRefusedField(claims, { labels: null, limits: null })).toBeUndefined()
})

test.each<[field: string, Restrictions, changes?: object]>([
  ['name', { name_prefix: 'team-b-' }],
  ['labels.zone', { labels: {} }],
  ['labels.zone', { labels: { zone: ['b'] } }],
  ['labels.toString', { labels: { zone: ['a'] } }, { labels: { toString: 'x' } }],
  ['max_concurrent_executions', { limits: { max_concurrent_executions: 3 } }],
  [
    'max_concurrent_executions',
    { limits: { max_concurrent_executions: 3 } },
    { max_concurrent_executions: 0 },
  ],
  ['resources.cpu_total', { limits: { cpu: 3.5 } }],
  ['resources.memory_total', { limits: { memory: 99 } }],
  ['resources.disk_total', { limits: { disk: 0 } }],
  ['resources.gpus', { limits: { gpus: 0 } }],
])('%s beyond %o: refused', (field, restrictions, changes = {}) => {
  expect(firstRefusedField({ ...claims, ...changes }, restrictions)).toBe(field)
})

test.each<[Restrictions]>([
  [{ name_prefix: 'team-a-', labels: { zone: ['b', 'a'], other: [] } }],
  [{ labels: { zone: ['*'] } }],
  [{ limits: { max_concurrent_executions: 4, cpu: 4, memory: 100, disk: 10, gpus: 1 } }],
])('a registration within %o: allowed', (restrictions) => {
  expect(firstRefusedField(claims, restrictions)).toBeUndefined()
})
