import type { SearchRequest } from '@windlass/proto/windlass/executions/v1/history'
import { newId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { type PlanNode, planOf } from '@windlass/testkit/query-plan'
import { expect, test } from 'vitest'
import { candidatesOf } from '../src/store/search-plan.ts'
import { run } from './executions-fixture.ts'
import { NO_FILTER, searchSetup } from './history-fixture.ts'
import { ONE } from './search-cases.ts'

/** Above the number of rows that a search skips for a caller that may not read them. */
const MANY = 20_050
const SCHEDULE = '5'.repeat(32)
const PARENT = '6'.repeat(32)

/** Inserts executions of a namespace, one each second from `first` on, all with a schedule, a parent and a tag. */
async function insert(db: Db, namespace: string, count: number, tag = 'prod'): Promise<void> {
  const requirement = newId()
  await db.run(sql`insert into requirements values (${requirement}, '{}')`)
  await db.run(sql`
    with made as (
      insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
        workflow_version, requirement_id, state, input, created_at, finished_at, schedule_id, parent_id)
      select gen_random_uuid(), gen_random_uuid(), ${namespace}, 'a', 1, ${requirement}, 'COMPLETED', '1',
             timestamptz '2026-01-01' + n * interval '1 s', now(), ${SCHEDULE}, ${PARENT}
        from generate_series(1, ${count}::int) as n
      returning execution_id, created_at)
    insert into execution_tags select 'env', ${tag}, created_at, execution_id from made`)
  await db.run(sql`
    insert into totals values (${namespace}, 'a', 'COMPLETED', ${count})
    on conflict (workflow_namespace, workflow_name, state) do update set total = totals.total + excluded.total`)
}

/** Rows that a search reads to find its candidates. */
async function rowsRead(db: Db, filter: Partial<SearchRequest>): Promise<number> {
  const visible = filter.visible?.all === false ? { kind: 'only' as const, ...filter.visible } : ALL
  const { from, sizes } = await candidatesOf(db, { ...NO_FILTER, ...filter, visible })
  const limits = sizes.map(() => 1_000)
  return countRows(
    await planOf(db, from(sql`e.execution_id`, sql`order by e.created_at desc`, limits)),
  )
}

/** Rows that the scans of a plan have read. */
const countRows = (nodes: PlanNode[]): number =>
  nodes
    .filter((node) => / Scan$/.test(node['Node Type']))
    .reduce(
      (sum, node) =>
        sum + node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
      0,
    )

const ALL = { kind: 'all' as const }

test.each<[string, Partial<SearchRequest>]>([
  ['a tag', { tags: { env: 'prod' } }],
  ['a schedule', { schedule_id: SCHEDULE }],
  ['a parent', { parent_id: PARENT }],
])(
  '%s of many executions of others: a caller finds its own, by its workflows',
  async (_, filter) => {
    const { db, search } = await searchSetup()
    await insert(db, 'two', MANY)
    await insert(db, 'one', 3)
    await db.run(sql`analyze executions, execution_tags`)
    const found = await search({ ...filter, visible: ONE })
    expect([found.total, found.total_exact, found.rows.length, found.cut]).toEqual([
      3,
      true,
      3,
      false,
    ])
    expect(await rowsRead(db, { ...filter, visible: ONE })).toBeLessThan(100)
  },
)

test('two tags, one of them frequent: the executions of the other one are read', async () => {
  const { db, search } = await searchSetup()
  await insert(db, 'one', MANY)
  await db.run(sql`
    insert into execution_tags
    select 'customer', '7', created_at, execution_id from executions order by created_at limit 1`)
  const found = await search({ tags: { env: 'prod', customer: '7' } })
  expect([found.total, found.total_exact, found.rows.length, found.cut]).toEqual([
    1,
    true,
    1,
    false,
  ])
})

test('a frequent tag and a time: only the executions of that time are read', async () => {
  const { db, search } = await searchSetup()
  await insert(db, 'one', MANY)
  await db.run(sql`analyze executions, execution_tags`)
  const filter = { tags: { env: 'prod' }, created_before: new Date('2026-01-01T00:00:11Z') }
  expect((await search(filter)).total).toBeGreaterThan(0)
  expect(await rowsRead(db, filter)).toBeLessThan(200)
})

test('a place within the executions of a frequent tag: those before it are not read', async () => {
  const { db } = await searchSetup()
  await insert(db, 'one', MANY)
  await db.run(sql`vacuum analyze executions`)
  await db.run(sql`vacuum analyze execution_tags`)
  const request = { ...NO_FILTER, visible: ALL, tags: { env: 'prod' } }
  const { from, key, id } = await candidatesOf(db, request)
  const place = sql`(timestamptz '2026-01-01T00:01:00Z', ${'f'.repeat(32)}::uuid)`
  const order = sql`and (${key}, ${id}) < ${place} order by ${key} desc, ${id} desc`
  const nodes = await planOf(db, from(sql`e.execution_id`, order, [1_000]))
  expect(countRows(nodes)).toBeLessThan(1_000)
})

test('values that a document has with and without escape sequences: found in all of them', async () => {
  const { client, search } = await searchSetup()
  const documents = ['{"a":"käse"}', '{"a":"k\\u00e4se"}', '{"a":{"b":[1,"käse"]}}', '{"b":"käse"}']
  const others = [
    '{"a":"say \\"hi\\""}',
    '{"a":"one\\ntwo"}',
    '{"a":true}',
    '{"a":1.50}',
    '{"a":null}',
  ]
  for (const input_json of [
    ...documents,
    ...others,
    '{"a":""}',
    `{"a":"x","b":"${'y'.repeat(3_000)}"}`,
  ])
    await run(client, { input_json, workflow_name: 'odd' })
  const count = async (path: string[], value: string) =>
    (await search({ workflow_name: 'odd', payload: { output: false, path, value } })).total
  expect(await count(['a'], 'käse')).toBe(2)
  expect(await count(['a', 'b', '1'], 'käse')).toBe(1)
  expect(await count(['a'], 'say "hi"')).toBe(1)
  expect(await count(['a'], 'one\ntwo')).toBe(1)
  expect(await count(['a'], 'true')).toBe(1)
  expect(await count(['a'], '1.50')).toBe(1)
  expect(await count(['a'], '1.5')).toBe(0)
  expect(await count(['a'], '')).toBe(1)
  expect(await count(['a'], 'x')).toBe(1)
  expect(await count(['a'], 'null')).toBe(0)
})
