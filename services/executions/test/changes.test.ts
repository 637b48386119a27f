import type {
  ListChangesRequest,
  SearchRequest,
} from '@windlass/proto/windlass/executions/v1/history'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { ALL, NO_FILTER, searchSetup } from './history-fixture.ts'
import { ONE, SEARCH_CASES } from './search-cases.ts'
import { type Sample, SCHEDULE, seedSamples } from './search-samples.ts'

/** Filters of SEARCH_CASES whose result changes while an execution runs. */
const CHANGING: (keyof SearchRequest)[] = [
  ...(['states', 'worker_name', 'error', 'min_duration', 'max_duration'] as const),
  ...(['finished_after', 'finished_before'] as const),
]

const isChanging = (filter: Partial<SearchRequest>) =>
  CHANGING.some((name) => filter[name] !== undefined)

async function setup() {
  const { db, history } = await searchSetup()
  const samples = await seedSamples(db)
  const list = async (
    filter: Partial<SearchRequest>,
    request: Partial<Omit<ListChangesRequest, 'search'>> = {},
  ) => {
    const search = { ...NO_FILTER, ...filter }
    const base = { search, execution_ids: [], since: undefined, limit: 1_000 }
    const { rows, ...page } = await history.listChanges({ ...base, ...request })
    const idsOf = (isMatch: boolean) =>
      rows.filter((row) => row.matches === isMatch).map(({ row }) => row?.execution_id)
    return { ...page, matching: idsOf(true), left: idsOf(false) }
  }
  return { db, samples, list, ids: samples.map(({ id }) => id) }
}

const idsOf = (samples: Sample[]) => samples.map(({ id }) => id).sort()

test('changed executions by id: those that match each filter, of visible workflows', async () => {
  const { samples, list, ids } = await setup()
  for (const [what, filter, is] of SEARCH_CASES)
    for (const visible of [ALL, ONE]) {
      const isVisible = (one: Sample) => visible === ALL || one.namespace === 'one'
      const found = await list({ ...filter, visible }, { execution_ids: ids })
      const expected = samples.filter((one) => isVisible(one) && is(one))
      expect(found.matching.sort(), what).toEqual(idsOf(expected))
      const others = samples.filter((one) => isVisible(one) && !is(one))
      if (!isChanging(filter) && !filter.payload?.output) expect(found.left, what).toEqual([])
      else if (Object.keys(filter).length === 1)
        expect(found.left.sort(), what).toEqual(idsOf(others))
      expect(found.total).toBe(found.matching.length + found.left.length)
    }
})

test('changed executions by id: no more than the limit, with their number', async () => {
  const { list, ids } = await setup()
  const { total, matching } = await list({}, { execution_ids: ids.slice(0, 10), limit: 3 })
  expect([total, matching.length]).toEqual([10, 3])
})

/** Dates all changes to long ago, but those of some executions. */
async function touch(db: Db, ids: string[]): Promise<void> {
  await db.run(sql`
    update executions set updated_at = now() - interval '1 day',
           finished_at = case when finished_at is not null then now() - interval '1 day' end`)
  await db.run(sql`
    update executions set updated_at = now(),
           finished_at = case when finished_at is not null then now() end
     where execution_id = any(${ids}::uuid[])`)
}

test('changed executions since a time: live and ended ones, that match or no longer do', async () => {
  const { db, samples, list } = await setup()
  const touched = samples.slice(30, 60)
  await touch(
    db,
    touched.map(({ id }) => id),
  )
  const since = new Date(Date.now() - 3_600_000)
  const all = await list({}, { since })
  expect(all).toMatchObject({ cut: false, left: [], total: 30 })
  expect(all.matching.sort()).toEqual(idsOf(touched))
  const running = await list({ states: ['RUNNING'], visible: ONE }, { since })
  const seen = touched.filter((one) => one.namespace === 'one')
  expect(running.matching).toEqual([])
  expect(running.left.sort()).toEqual(idsOf(seen))
  const scheduled = await list({ schedule_id: SCHEDULE }, { since })
  expect(scheduled.matching.sort()).toEqual(idsOf(touched.filter((one) => one.schedule)))
  expect(scheduled.left).toEqual([])
})

test('neither ids nor a time: no execution, and the time of the database', async () => {
  const { list } = await setup()
  const { as_of, total } = await list({})
  expect(total).toBe(0)
  expect(as_of).toBeInstanceOf(Date)
})

test('more executions than are listed at once: refused', async () => {
  const { list, ids } = await setup()
  await expect(list({}, { limit: 1_001 })).rejects.toMatchObject({ kind: 'invalid' })
  const many = Array.from({ length: 1_001 }, () => ids[0] ?? '')
  await expect(list({}, { execution_ids: many })).rejects.toMatchObject({ kind: 'invalid' })
})
