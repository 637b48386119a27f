import { expect, test } from 'vitest'
import { type ChangedRow, ChangedRows, type ListChanges } from './changed-rows.ts'

const AT = new Date('2026-01-01T00:00:00Z')

/** A list in which every named execution has changed, and the limits and the numbers of ids of its reads. */
function setup({ isWhole = false } = {}) {
  const clock = { ms: 0 }
  const limits: number[] = []
  const named: number[] = []
  let polls = 0
  let revision = 0
  const list: ListChanges = async ({ ids, limit }) => {
    revision++
    if (ids.length === 0) polls++
    else {
      limits.push(limit)
      named.push(ids.length)
    }
    const rows = ids.map(
      (id): ChangedRow => ({ id, revision, created_at: AT, matches: true, row_json: '{}' }),
    )
    return { rows: rows.slice(0, limit), total: rows.length, cut: false, as_of: AT }
  }
  const source = new ChangedRows(list, { isWhole, now: () => clock.ms })
  /** Reads a round in which so many executions have changed. */
  const round = async (count: number, first = 0) => {
    const ids = Array.from({ length: count }, (_, i) => String(first + i))
    const update = await source.read({ ids, areIncomplete: false })
    return [update?.rows.length, update?.skipped]
  }
  return { source, limits, named, round, clock, pollsOf: () => polls }
}

test('up to 100 rows in each round: all are sent', async () => {
  const { source, limits, round } = setup()
  await source.open()
  for (const count of [100, 99, 100]) expect(await round(count)).toEqual([count, 0])
  expect(limits).toEqual([100, 100, 100])
})

const NOTHING = [undefined, undefined]

test('more in several rounds: 100 are sent in the first and 20 of two others each, the rest is skipped', async () => {
  const { source, limits, round } = setup()
  await source.open()
  expect(await round(101)).toEqual([100, 1])
  expect(await round(150)).toEqual(NOTHING)
  expect(await round(300)).toEqual([20, 280])
  expect(await round(150)).toEqual(NOTHING)
  expect(await round(150, 150)).toEqual([20, 280])
  expect(limits).toEqual([100, 20, 20])
})

test('rounds that together have more executions than can be listed: none waits for the next one', async () => {
  const { source, round } = setup()
  await source.open()
  await round(600)
  expect(await round(600)).toEqual([20, 580])
})

test('two rounds of which only the first has many: up to 200 rows are sent', async () => {
  const { source, limits, round } = setup()
  await source.open()
  await round(150)
  expect(await round(120)).toEqual(NOTHING)
  expect(await round(60, 120)).toEqual([180, 0])
  expect(await round(100)).toEqual([100, 0])
  expect(limits).toEqual([100, 20, 200, 100])
})

test('a list of all executions: of many, only those that are sent are read', async () => {
  const { source, named, round } = setup({ isWhole: true })
  await source.open()
  expect(await round(150)).toEqual([100, 50])
  await round(150)
  expect(await round(300, 150)).toEqual([20, 430])
  expect(named).toEqual([150, 20])
  expect(await round(90)).toEqual([90, 0])
})

test('many changes, which make readers read: no read by time, and one when they have ended', async () => {
  const { source, clock, round, pollsOf } = setup()
  await source.open()
  await round(150)
  clock.ms = 60_000
  await round(300)
  await round(300)
  const before = pollsOf()
  await round(0)
  expect(pollsOf() - before).toBe(1)
  expect(before).toBe(1)
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
