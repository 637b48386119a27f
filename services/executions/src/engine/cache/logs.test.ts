import { expect, test } from 'vitest'
import type { Execution } from '../../domain/execution.ts'
import type { StoredEntry } from '../../store/log.ts'
import type { CommittedChange } from '../batch.ts'
import { LogCache } from './logs.ts'

const row = (execution_id: string, last_seq: number) => ({ execution_id, last_seq }) as Execution
const entry = (execution_id: string, seq: number, value_json = 'null') =>
  ({ execution_id, seq, value_json }) as StoredEntry
const grew = (id: string, from: number, entries: StoredEntry[]): CommittedChange => ({
  before: row(id, from),
  after: row(id, entries.at(-1)?.seq ?? from),
  entries,
})

test('a log that began here: cached up to its newest entry', () => {
  const logs = new LogCache()
  logs.record([grew('e', 0, [entry('e', 1)])])
  logs.record([grew('e', 1, [entry('e', 2), entry('e', 3)])])
  expect(logs.get(row('e', 3))?.map(({ seq }) => seq)).toEqual([1, 2, 3])
  expect(logs.get(row('e', 2))).toBeUndefined()
  expect(logs.get(row('e', 4))).toBeUndefined()
})

test('entries appended by another replica: the cached log is dropped', () => {
  const logs = new LogCache()
  logs.record([grew('e', 0, [entry('e', 1)])])
  logs.record([grew('e', 2, [entry('e', 3)])])
  expect(logs.get(row('e', 3))).toBeUndefined()
  expect(logs.get(row('e', 1))).toBeUndefined()
})

test('a log without entries: empty; a long log: not cached', () => {
  const logs = new LogCache()
  expect(logs.get(row('e', 0))).toEqual([])
  logs.record([grew('e', 0, [entry('e', 1, 'x'.repeat(40_000))])])
  expect(logs.get(row('e', 1))).toBeUndefined()
})

test('more logs than the bound: the oldest are evicted', () => {
  const logs = new LogCache()
  for (let i = 0; i < 5_000; i++) logs.record([grew(`${i}`, 0, [entry(`${i}`, 1)])])
  expect(logs.get(row('0', 1))).toBeUndefined()
  expect(logs.get(row('4999', 1))).toHaveLength(1)
})
