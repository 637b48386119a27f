import type { Db, Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { type PlanNode, planOf } from '@windlass/testkit/query-plan'
import { expect, test } from 'vitest'
import { type Range, readLogPage, readWindows } from '../src/store/log.ts'
import { outlineOf, pageOf, readPage } from '../src/store/log-pages.ts'
import { run } from './executions-fixture.ts'
import { searchSetup } from './history-fixture.ts'
import { addPartitions } from './log-partitions-fixture.ts'

/** A log of 20,000 entries, in a database that does not expect one. */
async function longLog({ statistics }: { statistics: boolean }) {
  const { client, db } = await searchSetup()
  const { execution_id } = await run(client)
  await addPartitions(db, 1)
  if (statistics) {
    await db.run(sql`
      insert into events (execution_id, seq, event_id, type, source_id, name, value, time)
      select id, n, 'e' || n, 'TASK_COMPLETED', 'call_' || n, 'task', '1', ''
        from (select gen_random_uuid() as id from generate_series(1, 5000)) as short,
             generate_series(1, 8) as n`)
    await db.run(sql`analyze events`)
  }
  await db.run(sql`
    insert into events (execution_id, seq, event_id, type, source_id, name, value, time)
    select ${execution_id}::uuid, 10 + n, 'e' || n, 'TASK_COMPLETED', 'call_' || n, 'task', '1', ''
      from generate_series(1, 20000) n`)
  return { db, execution_id }
}

/** The most entries that a node of a plan has read. */
function mostRead(nodes: PlanNode[]): number {
  const reads = nodes.filter((node) => node['Index Name']?.startsWith('events'))
  const rowsOf = (node: PlanNode) =>
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  return Math.max(...reads.map(rowsOf))
}

test('the timeline of a long log without statistics: a page reads its own entries, unsorted', async () => {
  const { db, execution_id } = await longLog({ statistics: false })
  const nodes = await planOf(db, outlineOf(execution_id, { after: 5_000, upTo: 6_000 }))
  expect(mostRead(nodes), JSON.stringify(nodes)).toBe(1_000)
})

test.each([false, true])(
  'a page of a long log, statistics of short ones %s: reads its own entries',
  async (statistics) => {
    const { db, execution_id } = await longLog({ statistics })
    const page = {
      execution_id,
      after: 5_000,
      before: 0,
      limit: 1_000,
      types: [],
      last_seq: 20_010,
    }
    const nodes = await planOf(db, pageOf(page, { after: 5_000, upTo: 6_000 }))
    expect(mostRead(nodes), JSON.stringify(nodes)).toBe(1_000)
  },
)

test('windows of a range: read until there are enough, forwards or from its end, also over gaps', async () => {
  const stored = [2, 3, 14, 15, 16, 40]
  const windows: [number, number][] = []
  const read =
    (backwards: boolean) =>
    async ({ after, upTo }: Range, limit: number) => {
      windows.push([after, upTo])
      const found = stored.filter((seq) => seq > after && seq <= upTo)
      return (backwards ? found.reverse() : found).slice(0, limit)
    }
  const range = { after: 2, upTo: 30 }
  expect(await readWindows(range, { limit: 3, size: 10 }, read(false))).toEqual([3, 14, 15])
  expect(windows.splice(0)).toEqual([
    [2, 12],
    [12, 22],
  ])
  const back = { limit: 2, size: 10, backwards: true }
  expect(await readWindows(range, back, read(true))).toEqual([16, 15])
  expect(windows.splice(0)).toEqual([
    [20, 30],
    [10, 20],
  ])
  expect(await readWindows(range, { limit: 9, size: 10 }, read(false))).toEqual([3, 14, 15, 16])
  expect(windows.splice(0)).toEqual([
    [2, 12],
    [12, 22],
    [22, 30],
  ])
  expect(await readWindows({ after: 30, upTo: 30 }, back, read(true))).toEqual([])
  expect(windows).toEqual([])
})

const MEBIBYTE = 1_048_576

/** A log with 24 values of 3 MiB, of characters with two bytes, between small ones. */
async function largeLog() {
  const all = await searchSetup()
  const { execution_id } = await run(all.client)
  await all.db.run(sql`
    insert into events (execution_id, seq, event_id, type, source_id, name, value, time)
    select ${execution_id}::uuid, 10 + n, 'e' || n, 'TASK_COMPLETED', 'call_' || n, 'task',
           (case when n % 2 = 0 then '"' || repeat('é', 1572864) || '"' else '1' end)::json, ''
      from generate_series(1, 48) n`)
  await all.db.run(sql`update executions set last_seq = 58 where execution_id = ${execution_id}`)
  return { ...all, execution_id }
}

/** The database, and the bytes of the values that it has returned. */
function measured(db: Db) {
  const read = { bytes: 0 }
  const rows: Db['rows'] = async (statement) => {
    const found = await db.rows(statement)
    for (const row of found as { value_json?: string }[])
      read.bytes += Buffer.byteLength(row.value_json ?? '')
    return found as never
  }
  return { read, counted: { rows } as Queries }
}

test.each([
  ['forwards', { after: 0, before: 0 }],
  ['backwards', { after: 0, before: 59 }],
  ['with a type', { after: 0, before: 0, types: ['TASK_COMPLETED'] }],
])(
  'a page of large values %s: reads what it returns and one more, not the log',
  async (_, place) => {
    const { db, execution_id } = await largeLog()
    const { counted, read } = measured(db)
    await readPage(counted, { execution_id, limit: 1_000, types: [], last_seq: 58, ...place })
    expect(read.bytes).toBeGreaterThan(5 * MEBIBYTE)
    expect(read.bytes).toBeLessThan(12 * MEBIBYTE)
  },
)

test('a page of a log of large values for a follower: reads what it returns and one more', async () => {
  const { db, execution_id } = await largeLog()
  const { counted, read } = measured(db)
  const page = await readLogPage(counted, execution_id, { after: 0, upTo: 58 }, 1_000)
  expect(page.at(-1)?.seq).toBe(15)
  expect(read.bytes).toBeLessThan(12 * MEBIBYTE)
})

test('a log of large values, page by page in both directions: each entry once', async () => {
  const { client, history, execution_id } = await largeLog()
  const seqs = Array.from({ length: 48 }, (_, i) => 11 + i)
  const asked = { execution_id, limit: 1_000, types: ['TASK_COMPLETED'] }
  const forwards: number[] = []
  for (let more = true; more; ) {
    const page = await history.readLog({ ...asked, after: forwards.at(-1) ?? 0, before: 0 })
    forwards.push(...page.entries.map(({ entry }) => entry?.seq ?? 0))
    more = page.more_after
  }
  expect(forwards).toEqual(seqs)
  const backwards: number[] = []
  for (let more = true; more; ) {
    const page = await history.readLog({ ...asked, after: 0, before: backwards[0] ?? 59 })
    backwards.unshift(...page.entries.map(({ entry }) => entry?.seq ?? 0))
    more = page.more_before
  }
  expect(backwards).toEqual(seqs)
  const followed: number[] = []
  for (let more = true; more; ) {
    const page = await client.log({ execution_id, after_seq: followed.at(-1) ?? 0, limit: 0 })
    followed.push(...page.entries.map(({ seq }) => seq))
    more = page.more
  }
  expect(followed.slice(-48)).toEqual(seqs)
})
