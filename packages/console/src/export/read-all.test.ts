import { expect, test } from 'vitest'
import type { ExecutionPage, ExecutionRow } from '../api/executions.ts'
import type { Query } from '../api/server.ts'
import { readAll } from './read-all.ts'

/** A list of so many executions, of which the server counts at most 10,000. */
const listOf =
  (count: number, cut = false) =>
  async ({ limit, offset }: Query): Promise<ExecutionPage> => {
    const [first, most] = [Number(offset), Number(limit)]
    const length = Math.max(0, Math.min(most, count - first))
    const executions = Array.from({ length }, (_, i) => ({ execution_id: `${first + i}` }))
    const counted = { total: Math.min(count, 10_000), total_exact: count <= 10_000 }
    return { executions: executions as ExecutionRow[], ...counted, cut, limit: most, offset: first }
  }

test.each([
  [0, 0, true],
  [500, 500, true],
  [9_999, 9_999, true],
  [10_000, 10_000, true],
  [10_001, 10_000, false],
])('%d executions: %d rows are read, and all of them: %s', async (count, length, isWhole) => {
  const read = await readAll(listOf(count), () => {})
  expect([read.rows.length, read.isWhole]).toEqual([length, isWhole])
})

test('a search that ended at a bound: not all rows', async () => {
  expect((await readAll(listOf(10, true), () => {})).isWhole).toBe(false)
})
