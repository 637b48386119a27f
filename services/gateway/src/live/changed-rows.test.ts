import { expect, test } from 'vitest'
import { type ChangedRow, ChangedRows, type ListChanges } from './changed-rows.ts'

const AT = new Date('2026-01-01T00:00:00Z')

/** A list in which every named execution has changed, and the limits of its reads. */
function setup() {
  const limits: number[] = []
  let revision = 0
  const list: ListChanges = async ({ ids, limit }) => {
    revision++
    if (ids.length > 0) limits.push(limit)
    const rows = ids.map(
      (id): ChangedRow => ({ id, revision, created_at: AT, matches: true, row_json: '{}' }),
    )
    return { rows: rows.slice(0, limit), total: rows.length, cut: false, as_of: AT }
  }
  const source = new ChangedRows(list, () => 0)
  /** Reads a round in which so many executions have changed. */
  const round = async (count: number) => {
    const ids = Array.from({ length: count }, (_, i) => String(i))
    const update = await source.read({ ids, areIncomplete: false })
    return [update?.rows.length, update?.skipped]
  }
  return { source, limits, round }
}

test('up to 100 rows in each round: all are sent', async () => {
  const { source, limits, round } = setup()
  await source.open()
  for (const count of [100, 99, 100]) expect(await round(count)).toEqual([count, 0])
  expect(limits).toEqual([100, 100, 100])
})

test('more in several rounds: 100 are sent in the first and 20 in the others, the rest is skipped', async () => {
  const { source, limits, round } = setup()
  await source.open()
  expect(await round(101)).toEqual([100, 1])
  expect(await round(150)).toEqual([20, 130])
  expect(await round(300)).toEqual([20, 280])
  expect(limits).toEqual([100, 20, 20])
})

test('fewer after a round with many: all are sent again', async () => {
  const { source, limits, round } = setup()
  await source.open()
  await round(150)
  expect(await round(20)).toEqual([20, 0])
  await round(150)
  expect(await round(100)).toEqual([100, 0])
  expect(await round(100)).toEqual([100, 0])
  // The last round with few rows was read a second time.
  expect(limits).toEqual([100, 20, 100, 20, 100, 100])
})
