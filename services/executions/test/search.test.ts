import type { SearchRequest } from '@windlass/proto/windlass/executions/v1/history'
import { newId } from '@windlass/runtime/ids'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { matches } from '../src/store/search-filter.ts'
import { cancel, event, run, submit, worker } from './executions-fixture.ts'
import { ALL, NO_FILTER, searchSetup } from './history-fixture.ts'
import { ONE, SEARCH_CASES } from './search-cases.ts'
import { PARENT, type Sample, SCHEDULE, seedSamples } from './search-samples.ts'

test.each([
  ['all', ALL, () => true],
  ['one namespace', ONE, (one: Sample) => one.namespace === 'one'],
])(
  'searches, %s: every filter finds its executions in both orders, page by page, with their number',
  async (_, visible, isVisible) => {
    const { db, search } = await searchSetup()
    const samples = (await seedSamples(db)).filter(isVisible)
    for (const [what, filter, is] of SEARCH_CASES)
      for (const by_finish of [false, true])
        for (const ascending of [false, true]) {
          const order = { by_finish, ascending, visible }
          const expected = inOrder(
            samples.filter((one) => is(one) && (!by_finish || one.finished !== undefined)),
            order,
          )
          const title = `${what} ${JSON.stringify(order)}`
          expect(await readPages(search, { ...filter, ...order }, title), title).toEqual(expected)
        }
  },
)

function inOrder(samples: Sample[], { by_finish, ascending }: Partial<SearchRequest>): string[] {
  const keyOf = (one: Sample): [number, string] => [
    (by_finish ? one.finished : one.created) ?? 0,
    one.id,
  ]
  const sorted = samples
    .map((one) => ({ id: one.id, key: keyOf(one) }))
    .sort((a, b) => a.key[0] - b.key[0] || (a.key[1] < b.key[1] ? -1 : 1))
    .map(({ id }) => id)
  return ascending ? sorted : sorted.reverse()
}

type SearchPages = (
  filter: Partial<SearchRequest>,
) => ReturnType<Awaited<ReturnType<typeof searchSetup>>['search']>

/** All rows of a search, read in pages of 90; compares the number of matches with that of the rows. */
async function readPages(search: SearchPages, filter: Partial<SearchRequest>, title: string) {
  const ids: string[] = []
  let cursor = ''
  let total = 0
  do {
    const page = await search({ ...filter, cursor, limit: 90 })
    expect(page.total_exact, title).toBe(true)
    expect(page.cut, title).toBe(false)
    ids.push(...page.rows.map(({ execution_id }) => execution_id))
    cursor = page.next_cursor
    total = page.total
  } while (cursor !== '')
  expect(total, title).toBe(ids.length)
  return ids
}

test.each([
  ['all', ALL],
  ['one namespace', ONE],
])('the largest offset, %s: an empty page of every filter and order', async (_, visible) => {
  const { db, search } = await searchSetup()
  await seedSamples(db)
  for (const [what, filter] of SEARCH_CASES)
    for (const by_finish of [false, true]) {
      const page = { ...filter, by_finish, visible, offset: Number.MAX_SAFE_INTEGER }
      expect((await search(page)).rows, `${what} ${by_finish}`).toEqual([])
    }
})

test('a prefix of an id: executions that begin with it', async () => {
  const { db, search } = await searchSetup()
  const samples = await seedSamples(db)
  const [, one] = samples
  const id = one?.id ?? ''
  for (const id_prefix of [id, id.slice(0, 31), id.slice(0, 20)]) {
    const { rows, total } = await search({ id_prefix })
    expect([total, ...rows.map((row) => row.execution_id)]).toEqual([1, id])
  }
  expect((await search({ id_prefix: id, visible: ONE })).rows).toEqual([])
})

test('more matches than are counted: at least 10,000, and pages to the last of them', async () => {
  const { db, search } = await searchSetup()
  const requirement = newId()
  await db.run(sql`insert into requirements values (${requirement}, '{}')`)
  await db.run(sql`
    insert into executions (execution_id, workflow_id, workflow_namespace, workflow_name,
      workflow_version, requirement_id, state, input, created_by, created_at, finished_at, error)
    select gen_random_uuid(), gen_random_uuid(), 'one', 'a', 1, ${requirement}, 'COMPLETED', '1',
           'bob', timestamptz '2026-01-01' + n * interval '1 s', now(), case when n = 1 then 'x' end
      from generate_series(1, 10050) as n`)
  await db.run(sql`insert into totals values ('one', 'a', 'COMPLETED', 10050)`)
  const all = await search({ limit: 1 })
  expect([all.total, all.total_exact, all.cut]).toEqual([10_050, true, false])
  const many = await search({ created_by: 'bob', limit: 1 })
  expect([many.total, many.total_exact, many.cut, many.rows.length]).toEqual([
    10_000,
    false,
    false,
    1,
  ])
  // The only match is the last candidate: the first page ends at the bound without it.
  const first = await search({ created_by: 'bob', error: 'x' })
  expect([first.rows, first.cut, first.total_exact]).toEqual([[], true, false])
  const second = await search({ created_by: 'bob', error: 'x', cursor: first.next_cursor })
  expect([second.rows.length, second.cut, second.next_cursor]).toEqual([1, false, ''])
})

test('a document with characters that the database cannot store: the search leaves it out', async () => {
  const { client, search } = await searchSetup()
  for (const input_json of [
    '{"a":"\\u0000","b":"1"}',
    '{"a":"\\ud800","b":"1"}',
    '{"b":"1"}',
    '[]',
    '1',
  ])
    await run(client, { input_json, workflow_name: 'odd' })
  const payload = { output: false, path: ['b'], value: '1' }
  expect((await search({ workflow_name: 'odd', payload })).total).toBe(1)
})

const WRONG_CURSORS = [
  'x',
  '!!',
  Buffer.from('[]').toString('base64url'),
  Buffer.from('[false,false,-1,"x",1,true]').toString('base64url'),
  Buffer.from(`[false,true,1,"${'a'.repeat(32)}",1,true]`).toString('base64url'),
  Buffer.from(`[false,false,1e300,"${'a'.repeat(32)}",1,true]`).toString('base64url'),
]

test('a malformed cursor, or one of another order: invalid', async () => {
  const { search } = await searchSetup()
  for (const cursor of WRONG_CURSORS)
    await expect(search({ cursor }), cursor).rejects.toMatchObject({ kind: 'invalid' })
})

test('an execution from create to failure: its row has times, sizes, tags, starter and the error', async () => {
  const { client, search } = await searchSetup()
  const tags = { order: '7', 'env.name': 'prod, or not'.replace(',', ';') }
  const fields = { parent_id: PARENT, schedule_id: SCHEDULE, tags, workflow_version: 3 }
  const { execution_id } = await run(client, { ...fields, input_json: '{"é":1}' })
  const [queued] = (await search()).rows
  expect(queued).toMatchObject({
    ...{ execution_id, state: 'SCHEDULED', workflow_version: 3, attempts: 0, input_bytes: 8 },
    ...{ parent_id: PARENT, schedule_id: SCHEDULE, tags },
  })
  expect(queued?.queued_at).toBeInstanceOf(Date)
  expect([queued?.started_at, queued?.finished_at, queued?.output_bytes]).toEqual(Array(3))
  const w = worker(client)
  const leased = await w.lease()
  const { claim_generation } = leased.leases[0]?.execution ?? { claim_generation: 0 }
  const writer = w.writer(claim_generation)
  const as = (body: Parameters<typeof submit>[1]['body']) =>
    submit(client, { execution_id, with_log: false, body })
  await as({ $case: 'claim', value: { writer, awaits_confirmation: false } })
  const value_json = '{"type":"ValueError","message":"\\n no stock\\u0000 left\\nsecond line"}'
  const events = [event('WORKFLOW_FAILED', { value_json })]
  await as({ $case: 'checkpoint', value: { writer, state: 'FAILED', events } })
  const [failed] = (await search({ tags: { order: '7' } })).rows
  expect(failed).toMatchObject({
    ...{ state: 'FAILED', worker_name: w.worker_name, error: 'ValueError: no stock  left' },
    ...{ output_bytes: value_json.length, attempts: 1 },
  })
  expect(failed?.queued_at).toBeUndefined()
  expect(failed?.started_at?.getTime()).toBeLessThanOrEqual(failed?.finished_at?.getTime() ?? 0)
})

test('executions without a tag, cancelled before a claim: absent tags, start and error', async () => {
  const { client, search } = await searchSetup()
  const { execution_id } = await run(client)
  await cancel(client, execution_id)
  const [row] = (await search({ states: ['CANCELLED'] })).rows
  expect([row?.tags, row?.started_at, row?.error, row?.parent_id]).toEqual([
    {},
    undefined,
    undefined,
    '',
  ])
})

const WRONG_TAGS: Record<string, string>[] = [
  { ',': 'x' },
  { a: 'x,y' },
  { a: 'x\n' },
  { a: 'x'.repeat(129) },
  { ['k'.repeat(64)]: 'x' },
  Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'x'])),
]

test('malformed tags, or too many: refused', async () => {
  const { client } = await searchSetup()
  for (const tags of WRONG_TAGS)
    await expect(run(client, { tags })).rejects.toMatchObject({ kind: 'invalid' })
})

test('a search by payload that PostgreSQL performs in parallel: answered', async () => {
  const { db } = await searchSetup()
  await seedSamples(db)
  const payload = { output: false, path: ['order', 'id'], value: 'A-7' }
  const [row] = await db.tx(async (tx) => {
    for (const setting of [
      'parallel_setup_cost',
      'parallel_tuple_cost',
      'min_parallel_table_scan_size',
    ])
      await tx.run(sql`select set_config(${setting}, '0', true)`)
    return tx.rows<{ count: number }>(sql`
      select count(*) as count from executions e where ${matches({ ...NO_FILTER, payload })}`)
  })
  expect(row?.count).toBe(15)
})
