import { expect, test } from 'vitest'
import type { ExecutionPage, ExecutionRow } from '../api/executions.ts'
import { merge } from '../ui/held-rows.ts'
import type { ListEvent } from './list-event.ts'
import { LiveRows } from './live-rows.ts'
import type { Filter } from './matches.ts'

/** A row that was created at a second. */
const rowAt = (second: number, changes: Partial<ExecutionRow> = {}): ExecutionRow => ({
  ...{ execution_id: `id${second}`, workflow_namespace: 'default', workflow_name: 'greet' },
  ...{ state: 'RUNNING', worker_name: '', revision: 1, updated_at: '' },
  created_at: new Date(second * 1_000).toISOString(),
  ...changes,
})

const eventOf = (row: ExecutionRow): ListEvent => ({
  ...{ kind: 'row', topic: 'executions', id: row.execution_id, revision: row.revision ?? 0, row },
})

/** A list that was read with some rows, and the gaps of the reads that events ask for. */
async function listOf(
  rows: ExecutionRow[],
  filter: Filter = {},
  limit = 3,
  { offset = 0, now = (): number => 0 } = {},
) {
  const page: ExecutionPage = { executions: rows, total: rows.length, limit, offset }
  let give = (_: ListEvent[]) => {}
  const source = new LiveRows(
    {
      isLive: true,
      subscribe(onEvents) {
        give = onEvents
        return () => {}
      },
    },
    filter,
    now,
  )
  const gaps: unknown[] = []
  source.subscribe(
    (gap) => gaps.push(gap),
    () => {},
  )
  await source.read(async () => page)
  const shown = () => source.rowsOf(page).map(({ execution_id, state }) => [execution_id, state])
  return { source, page, gaps, shown, give: (...events: ListEvent[]) => give(events) }
}

test('a row that changes: in place, and its older state that comes later changes nothing', async () => {
  const { give, shown, gaps } = await listOf([rowAt(2), rowAt(1)])
  give(eventOf(rowAt(1, { state: 'FAILED', revision: 3 })))
  give(eventOf(rowAt(1, { state: 'CLAIMED', revision: 2 })))
  give(eventOf(rowAt(1, { state: 'FAILED', revision: 3 })))
  expect(shown()).toEqual([
    ['id2', 'RUNNING'],
    ['id1', 'FAILED'],
  ])
  expect(gaps).toEqual([10_000])
})

test('an answer that is newer than the event: the answer counts', async () => {
  const { give, source, page } = await listOf([rowAt(1)])
  give(eventOf(rowAt(1, { state: 'CLAIMED', revision: 2 })))
  const [row] = source.rowsOf({
    ...page,
    executions: [rowAt(1, { state: 'COMPLETED', revision: 3 })],
  })
  expect(row?.state).toBe('COMPLETED')
})

test('a change that the list was read with: the list is not read again', async () => {
  const { give, gaps } = await listOf([rowAt(1, { revision: 3 })])
  give(eventOf(rowAt(1, { revision: 3 })))
  give(eventOf(rowAt(1, { revision: 2 })))
  expect(gaps).toEqual([])
  give(eventOf(rowAt(1, { revision: 4 })))
  expect(gaps).toEqual([10_000])
})

test('new rows: in the order of the list, as many as the page has', async () => {
  const { give, shown } = await listOf([rowAt(2), rowAt(1)])
  give(eventOf(rowAt(4)), eventOf(rowAt(3)))
  expect(shown().map(([id]) => id)).toEqual(['id4', 'id3', 'id2'])
})

test('a new row on a later page of the list: not shown there', async () => {
  const { give, shown } = await listOf([rowAt(2)], {}, 3, { offset: 3 })
  give(eventOf(rowAt(4)))
  expect(shown()).toEqual([['id2', 'RUNNING']])
})

test('a row that is older than a full page: not shown', async () => {
  const { give, shown } = await listOf([rowAt(9), rowAt(8), rowAt(7)])
  give(eventOf(rowAt(1)))
  expect(shown().map(([id]) => id)).toEqual(['id9', 'id8', 'id7'])
})

test('a row that came before a read whose answer does not have it: not shown any more', async () => {
  const { give, shown, source, page } = await listOf([rowAt(1)])
  give(eventOf(rowAt(2)))
  await source.read(async () => page)
  expect(shown()).toEqual([['id1', 'RUNNING']])
  give(eventOf(rowAt(3)))
  expect(shown().map(([id]) => id)).toEqual(['id3', 'id1'])
})

test('a row that the caller may no longer see, or that was deleted: gone, and the list is read soon', async () => {
  const { give, shown, gaps } = await listOf([rowAt(2), rowAt(1)])
  give({ kind: 'row', topic: 'executions', id: 'id1', revision: 2, row: null })
  expect(shown()).toEqual([['id2', 'RUNNING']])
  expect(gaps).toEqual([2_000])
})

test.each([
  [{}, 'shown', 10_000],
  [{ state: 'running,FAILED' }, 'shown', 10_000],
  [{ state: 'FAILED' }, 'not shown', 10_000],
  [{ workflow_name: 'greet', namespace: 'default' }, 'shown', 10_000],
  [{ namespace: 'team' }, 'not shown', 10_000],
  [{ id: 'ID5' }, 'shown', 10_000],
  [{ created_after: '1970-01-01T00:00:05Z' }, 'shown', 10_000],
  [{ created_before: '1970-01-01T01:00:05+01:00' }, 'not shown', 10_000],
  [{ created_after: 'yesterday' }, 'not shown', 10_000],
  [{ error: 'timeout', state: '' }, 'not shown', 2_000],
  [{ payload: 'input.a=1', state: 'FAILED' }, 'not shown', 10_000],
  [{ a_filter_of_a_later_release: '1' }, 'not shown', 2_000],
])(
  'a new row with the filter %j: %s, and the list is read %d ms later',
  async (filter, where, gap) => {
    const { give, shown, gaps } = await listOf([rowAt(1)], filter)
    give(eventOf(rowAt(5)))
    expect(shown().some(([id]) => id === 'id5') ? 'shown' : 'not shown').toBe(where)
    expect(gaps).toEqual([gap])
  },
)

test('rows that were skipped: their number, until a read that began later has ended', async () => {
  const { give, source, page, gaps } = await listOf([rowAt(1)])
  give({ kind: 'skipped', topic: 'executions', rows: 7 }, { kind: 'resync', topic: 'workers' })
  expect([source.skipped, gaps]).toEqual([7, [2_000]])
  await source.read(async () => {
    give({ kind: 'skipped', topic: 'executions', rows: 5 })
    return page
  })
  expect(source.skipped).toBe(5)
})

test('thousands of other rows change: the rows of the page are still known', async () => {
  const { give, shown } = await listOf([rowAt(900_000)])
  for (let i = 0; i < 6_000; i++) give(eventOf(rowAt(i)))
  give(eventOf(rowAt(900_000, { state: 'FAILED', revision: 2 })))
  expect(shown()).toEqual([
    ['id900000', 'FAILED'],
    ['id5999', 'RUNNING'],
    ['id5998', 'RUNNING'],
  ])
})

test('rows that are shown: one that left the page changes still, and one that is gone goes', () => {
  const update = (row: ExecutionRow) =>
    row.execution_id === 'id1' ? rowAt(1, { state: 'FAILED' }) : undefined
  const idOf = (row: ExecutionRow) => row.execution_id
  const merged = merge([rowAt(3), rowAt(2), rowAt(1)], [rowAt(4), rowAt(3)], { idOf, update })
  expect(merged.map(({ execution_id, state }) => [execution_id, state])).toEqual([
    ['id3', 'RUNNING'],
    ['id1', 'FAILED'],
  ])
})

test('an answer with an age: rows and skipped changes that arrived after its time are still shown', async () => {
  const clock = { ms: 0 }
  const { give, shown, source, page } = await listOf([rowAt(1)], {}, 3, { now: () => clock.ms })
  const read = (ageMs: number) => source.read(async () => page, { ms: ageMs })
  clock.ms = 1_000
  give(eventOf(rowAt(2)), { kind: 'skipped', topic: 'executions', rows: 7 })
  clock.ms = 5_000
  give({ kind: 'skipped', topic: 'executions', rows: 5 })
  clock.ms = 6_000
  await read(5_500)
  expect(shown().map(([id]) => id)).toEqual(['id2', 'id1'])
  expect(source.skipped).toBe(12)
  await read(2_000)
  expect(shown().map(([id]) => id)).toEqual(['id1'])
  expect(source.skipped).toBe(5)
  await read(0)
  expect(source.skipped).toBe(0)
})
