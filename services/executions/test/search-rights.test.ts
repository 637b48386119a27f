import type { Visibility } from '@windlass/proto/windlass/access/v1/visibility'
import type { SearchRequest } from '@windlass/proto/windlass/executions/v1/history'
import { newId } from '@windlass/runtime/ids'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import { type Sql, sql } from '@windlass/runtime/postgres/sql'
import { planOf, statementsOf } from '@windlass/testkit/query-plan'
import { expect, test } from 'vitest'
import { search as readPage, type Search, searchAndCount } from '../src/store/search.ts'
import { ALL, NO_FILTER, searchSetup } from './history-fixture.ts'

const PARENT = '6'.repeat(32)
/** A parent of a few of all executions. */
const PARENT_OF_FEW = '5'.repeat(32)
const FIRST_MS = Date.parse('2026-01-01T00:00:00Z')
const at = (second: number) => new Date(FIRST_MS + second * 1_000)

/** More than a search reads, and more with the frequent tag than a caller may read. */
const ROWS = 44_000

/**
 * Inserts executions of three namespaces, three of each second, most of them of one workflow: 16,000 of `one`, 40 of
 * `few`.
 */
async function seed(db: Db): Promise<void> {
  const requirement = newId()
  await db.run(sql`insert into requirements values (${requirement}, '{}')`)
  await db.run(sql`
    insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name, workflow_version,
      requirement_id, state, input, input_bytes, created_by, parent_id, error, tags, created_at, finished_at)
    select md5(n::text)::uuid, gen_random_uuid(),
           case when n % 1100 = 7 then 'few' when n % 11 < 7 then 'two' else 'one' end,
           case when r % 10 < 7 then 'a' else 'w' || r % 20 end, 1 + r % 3, ${requirement}, state,
           json_build_object('order', 'A-' || r % 500), 20,
           case when r % 9 = 0 then 'ann' else 'bob' end, case when r % 3 = 0 then ${PARENT}::uuid when r % 60 = 1 then ${PARENT_OF_FEW}::uuid end,
           case when state = 'FAILED' then 'ValueError: order ' || r % 7 end,
           case when r % 4 > 0 then
             json_build_object('env', case when r % 13 = 0 then 'test' else 'prod' end, 'customer', 'c-' || r % 300) end,
           ${at(0)}::timestamptz + n / 3 * interval '1 s',
           case when state <> 'PAUSED' then ${at(0)}::timestamptz + (n / 3 + r % 600) * interval '1 s' end
      from generate_series(1, ${ROWS}::int) as n
     cross join lateral (select n::bigint * 7919 % 10007 as r) as a
     cross join lateral (
       select case when r % 50 = 3 then 'PAUSED' when r % 8 = 1 then 'FAILED' else 'COMPLETED' end as state) as b`)
  await db.run(sql`
    insert into execution_tags
    select key, value, created_at, execution_id from executions, json_each_text(tags)`)
  await db.run(sql`
    insert into totals
    select workflow_namespace, workflow_name, state, count(*) from executions group by 1, 2, 3`)
  await db.run(sql`vacuum analyze executions`)
  await db.run(sql`vacuum analyze execution_tags`)
}

const only = (namespace: string): Visibility => ({
  all: false,
  workflows: [{ namespace, name: '*' }],
  ids: [],
})

const payload = { output: false, path: ['order'], value: 'A-7' }
const ofPayload = sql`input ->> 'order' = 'A-7'`
const isProd = sql`tags ->> 'env' = 'prod'`
const ofParent = sql`parent_id = ${PARENT}::uuid`

const CASES: [filter: Partial<SearchRequest>, condition: Sql][] = [
  [{}, sql`true`],
  [{ tags: { env: 'prod' } }, isProd],
  [
    { tags: { env: 'prod' }, created_before: at(5_000) },
    sql`${isProd} and created_at < ${at(5_000)}`,
  ],
  [{ tags: { env: 'prod', customer: 'c-7' } }, sql`${isProd} and tags ->> 'customer' = 'c-7'`],
  [{ tags: { env: 'absent' } }, sql`false`],
  [{ tags: { env: 'prod' }, payload }, sql`${isProd} and ${ofPayload}`],
  [{ parent_id: PARENT }, ofParent],
  [{ parent_id: PARENT, payload }, sql`${ofParent} and ${ofPayload}`],
  [{ parent_id: PARENT, tags: { env: 'prod' } }, sql`${ofParent} and ${isProd}`],
  [{ created_by: 'ann' }, sql`created_by = 'ann'`],
  [{ workflow_name: 'w3', payload }, sql`workflow_name = 'w3' and ${ofPayload}`],
  [
    { states: ['FAILED', 'PAUSED'], created_after: at(9_000), error: 'order 3' },
    sql`state in ('FAILED', 'PAUSED') and created_at >= ${at(9_000)} and error like '%order 3%'`,
  ],
  [
    { created_after: at(3_000), created_before: at(9_000) },
    sql`created_at >= ${at(3_000)} and created_at < ${at(9_000)}`,
  ],
]

const CALLERS: [who: string, visible: Visibility, condition: Sql][] = [
  ['all', ALL, sql`true`],
  ['a third', only('one'), sql`workflow_namespace = 'one'`],
  ['few', only('few'), sql`workflow_namespace = 'few'`],
  ['none', only('none'), sql`false`],
]

const ORDERS = [false, true].flatMap((by_finish) =>
  [false, true].map((ascending) => ({ by_finish, ascending })),
)

// One test: the executions are stored once for all callers.
test('many executions, callers may read all, a third, few, none: each finds these in order, with an exact number up to 10,000', {
  timeout: 600_000,
}, async () => {
  const { db, search } = await searchSetup()
  await seed(db)
  for (const [who, visible, isVisible] of CALLERS)
    for (const [filter, condition] of CASES)
      for (const order of ORDERS) {
        const request = { ...filter, ...order, visible }
        const expected = await listMatches(db, sql`${isVisible} and ${condition}`, order)
        await expectPages(search, request, { who, ...expected })
      }
})

const PAGES = 2

interface Matches {
  /** Ids of the first pages. */
  first: string[]
  total: number
}

/** All matching executions, by a statement that has the same filters in a plain form. */
async function listMatches(
  db: Db,
  condition: Sql,
  { by_finish, ascending }: (typeof ORDERS)[number],
  most = PAGES * NO_FILTER.limit,
): Promise<Matches> {
  const key = by_finish ? sql`finished_at` : sql`created_at`
  const order = ascending ? sql`asc` : sql`desc`
  const matches = await db.maybe<Matches>(sql`
    with matching as (select execution_id, ${key} as key from executions where ${condition} and ${key} is not null)
    select (select count(*)::int from matching) as total,
           array(select replace(execution_id::text, '-', '') from matching
                  order by key ${order}, execution_id ${order} limit ${most}) as first`)
  return matches ?? expect.unreachable()
}

/** Reads the first pages of a search and compares them, and the number of matches, with what it should find. */
async function expectPages(
  search: Awaited<ReturnType<typeof searchSetup>>['search'],
  request: Partial<SearchRequest> & { visible: Visibility },
  expected: Matches & { who: string },
): Promise<void> {
  const title = `a caller who may read ${expected.who}: ${JSON.stringify(request)}`
  const found: string[] = []
  let cursor = ''
  for (let page = 0; page < PAGES && (page === 0 || cursor !== ''); page++) {
    const { rows, ...answer } = await search({ ...request, cursor })
    found.push(...rows.map(({ execution_id }) => execution_id))
    cursor = answer.next_cursor
    const { total, total_exact, cut } = answer
    if (total_exact) expect(total, title).toBe(expected.total)
    else {
      expect(total, title).toBeLessThanOrEqual(Math.min(10_000, expected.total))
      expect(canReadMany(request), title).toBe(true)
    }
    if (cursor !== '' && !cut) expect(rows, title).toHaveLength(NO_FILTER.limit)
  }
  expect(found, title).toEqual(expected.first.slice(0, found.length))
  if (cursor === '') expect(found, title).toHaveLength(expected.total)
}

/** True for callers that may read more executions than a search reads. */
const canReadMany = ({ visible }: { visible: Visibility }) =>
  visible.all || visible.workflows[0]?.namespace === 'one'

/** Index entries, and rows of tables without an index, that this session has read. */
async function countRead(tx: Tx): Promise<number> {
  const row = await tx.maybe<{ entries: number }>(sql`
    select sum(pg_stat_get_xact_tuples_returned(oid))::int as entries from pg_class
     where relnamespace = 'executions'::regnamespace and relkind in ('r', 'i')`)
  return row?.entries ?? 0
}

/** Entries that a search reads with plans that are made for any value, as PostgreSQL does for repeated statements. */
const entriesRead = (db: Db, request: Partial<Search>, isFirstPage: boolean): Promise<number> =>
  db.tx(async (tx) => {
    await tx.run(sql`set local plan_cache_mode = force_generic_plan`)
    const before = await countRead(tx)
    const read = isFirstPage ? searchAndCount : readPage
    await read(tx, { ...NO_FILTER, visible: { kind: 'all' }, ...request, after: undefined })
    return (await countRead(tx)) - before
  })

const to = (namespace: string) => ({ kind: 'only' as const, ...only(namespace) })
const PROD = { env: 'prod' }

test('searches of callers with some permissions: each index entry is read once, up to a bound', async () => {
  const { db } = await searchSetup()
  await seed(db)
  const read = (request: Partial<Search>, isFirstPage = true) =>
    entriesRead(db, request, isFirstPage)
  // 16,001 entries of the tag to choose the index, then 10,001 candidates, most of them with the tag.
  expect(await read({ visible: to('one'), tags: PROD })).toBeLessThan(36_000)
  expect(await read({ visible: to('one'), tags: PROD, payload })).toBeLessThan(36_000)
  // A page without the number of matches reads few candidates.
  expect(await read({ visible: to('one'), tags: PROD }, false)).toBeLessThan(18_000)
  expect(await read({ visible: to('one'), created_by: 'ann' }, false)).toBeLessThan(3_000)
  // Not all of the 730 nested runs of the parent, and no others.
  expect(await read({ parent_id: PARENT_OF_FEW }, false)).toBeLessThan(500)
  for (const filter of [{ tags: PROD }, { parent_id: PARENT }, { tags: PROD, payload }])
    expect(await read({ visible: to('few'), ...filter })).toBeLessThan(500)
})

test('a large offset without a filter: the right page, and the rows before it are only skipped', async () => {
  const { db, search } = await searchSetup()
  await seed(db)
  const all = { kind: 'all' as const }
  for (const ascending of [false, true]) {
    const { rows, next_cursor } = await search({ visible: ALL, ascending, offset: 30_000 })
    const order = { by_finish: false, ascending }
    const { first } = await listMatches(db, sql`true`, order, 30_000 + 2 * NO_FILTER.limit)
    const ids = (found: typeof rows) => found.map(({ execution_id }) => execution_id)
    expect(ids(rows)).toEqual(first.slice(30_000, 30_000 + NO_FILTER.limit))
    const second = await search({ visible: ALL, ascending, cursor: next_cursor })
    expect(ids(second.rows)).toEqual(first.slice(30_000 + NO_FILTER.limit))
    const page = { ...NO_FILTER, ascending, visible: all, after: undefined, offset: 30_000 }
    const [statement] = await statementsOf((tx) => readPage(tx, page))
    const plan = await planOf(db, statement ?? expect.unreachable())
    const rowsOfCandidates = plan.filter((node) => node['Node Type'] === 'CTE Scan')
    expect(rowsOfCandidates.length).toBeGreaterThan(0)
    for (const node of rowsOfCandidates) expect(node['Actual Rows']).toBeLessThan(1_000)
  }
})

test('an offset beyond the last execution: an empty page, and the number of all', async () => {
  const { db, search } = await searchSetup()
  await seed(db)
  const { rows, total, total_exact, next_cursor } = await search({ visible: ALL, offset: ROWS })
  expect([rows, total, total_exact, next_cursor]).toEqual([[], ROWS, true, ''])
})
