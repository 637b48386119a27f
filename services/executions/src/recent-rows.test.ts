import { expect, test } from 'vitest'
import type { Execution } from './domain/execution.ts'
import type { Effect } from './flush.ts'
import { RecentRows } from './recent-rows.ts'

const row = (execution_id: string, fields: Partial<Execution> = {}) =>
  ({ execution_id, state: 'RUNNING', gated: false, revision: 1, ...fields }) as Execution
const became = (after: Execution): Effect => ({ before: undefined, after, entries: [] })

test('the newest row of an execution is remembered, until it is over', () => {
  const rows = new RecentRows()
  rows.note([became(row('e')), became(row('e', { revision: 2 }))])
  expect(rows.of('e')?.revision).toBe(2)
  rows.note([became(row('e', { revision: 3, state: 'COMPLETED' }))])
  expect(rows.of('e')).toBeUndefined()
})

test('a row that turned out to be another is forgotten', () => {
  const rows = new RecentRows()
  rows.note([became(row('e'))])
  rows.forget('e')
  expect(rows.of('e')).toBeUndefined()
})

test('rows with large payloads and rows with approvals are not remembered', () => {
  const rows = new RecentRows()
  const large = 'x'.repeat(10_000)
  rows.note([
    became(row('input', { input_json: large })),
    became(row('pause', { pause_output_json: large })),
    became(row('gated', { gated: true })),
  ])
  expect(['input', 'pause', 'gated'].map((id) => rows.of(id))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('it remembers no more than its bound', () => {
  const rows = new RecentRows()
  for (let i = 0; i < 10_000; i++) rows.note([became(row(`${i}`))])
  expect(rows.of('0')).toBeUndefined()
  expect(rows.of('9999')).toBeDefined()
})
