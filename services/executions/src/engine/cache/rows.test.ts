import { expect, test } from 'vitest'
import type { Execution } from '../../domain/execution.ts'
import type { CommittedChange } from '../batch.ts'
import { RowCache } from './rows.ts'

const row = (execution_id: string, fields: Partial<Execution> = {}) =>
  ({ execution_id, state: 'RUNNING', gated: false, revision: 1, ...fields }) as Execution
const became = (after: Execution): CommittedChange => ({ before: undefined, after, entries: [] })

test('the newest row of an execution: cached until it is terminal', () => {
  const rows = new RowCache()
  rows.record([became(row('e')), became(row('e', { revision: 2 }))])
  expect(rows.get('e')?.revision).toBe(2)
  rows.record([became(row('e', { revision: 3, state: 'COMPLETED' }))])
  expect(rows.get('e')).toBeUndefined()
})

test('a deleted row: no longer cached', () => {
  const rows = new RowCache()
  rows.record([became(row('e'))])
  rows.delete('e')
  expect(rows.get('e')).toBeUndefined()
})

test('rows with large payloads or approvals: not cached', () => {
  const rows = new RowCache()
  const large = 'x'.repeat(10_000)
  rows.record([
    became(row('input', { input_json: large })),
    became(row('pause', { pause_output_json: large })),
    became(row('gated', { gated: true })),
  ])
  expect(['input', 'pause', 'gated'].map((id) => rows.get(id))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('more rows than the bound: the oldest are evicted', () => {
  const rows = new RowCache()
  for (let i = 0; i < 10_000; i++) rows.record([became(row(`${i}`))])
  expect(rows.get('0')).toBeUndefined()
  expect(rows.get('9999')).toBeDefined()
})
