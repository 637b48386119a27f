import { newId } from '@windlass/runtime/ids'
import { expect, test } from 'vitest'
import { framesOf } from './frames.ts'
import { asRow, CURSOR, listSetup, NOW, rowOf, take } from './list-stream-fixture.ts'

test('a followed list: rows of changed executions with their revision, and null for those that left it', async () => {
  const { follow, change, requests } = await listSetup()
  const frames = framesOf(await follow('?filter=state%3Drunning%26workflow_name%3Dorder'))
  expect((await frames.next()).value).toEqual({
    ...{ id: CURSOR, event: 'ready', data: { topics: ['executions'] } },
  })
  const [a, b] = [newId(), newId()]
  change({ row: rowOf(a), matches: true })
  expect(await take(frames, 1)).toEqual([asRow(a, 1, { state: 'RUNNING' })])
  change({ row: rowOf(a, { revision: 2, state: 'FAILED' }), matches: false })
  expect(await take(frames, 1)).toEqual([['executions', { id: a, revision: 2, row: null }]])
  // One that a reader cannot have in its list leaves it unnoticed.
  const young = rowOf(b, { revision: 7, created_at: new Date(NOW + 1) })
  change({ row: young, matches: false })
  change({ row: rowOf(a, { revision: 3 }), matches: true })
  expect(await take(frames, 1)).toEqual([asRow(a, 3)])
  const search = { states: ['RUNNING'], workflow_name: 'order', visible: { all: true } }
  expect(requests[0]?.search).toMatchObject(search)
})

test('an execution that changes several times at once: one row, and none for a repeated signal', async () => {
  const { follow, change, requests } = await listSetup()
  const frames = framesOf(await follow())
  await take(frames, 1)
  const [a, b] = [newId(), newId()]
  for (let revision = 1; revision <= 50; revision++)
    change({ row: rowOf(a, { revision }), matches: true })
  expect(await take(frames, 1)).toEqual([asRow(a, 50)])
  const before = requests.length
  change({ row: rowOf(a, { revision: 50 }), matches: true })
  await expect.poll(() => requests.length).toBeGreaterThan(before)
  change({ row: rowOf(b, { revision: 1 }), matches: true })
  expect(await take(frames, 1)).toEqual([asRow(b, 1)])
})

test('more than 200 rows in a second: the rest is counted as skipped', async () => {
  const { follow, change } = await listSetup()
  const frames = framesOf(await follow())
  await take(frames, 1)
  const many = Array.from({ length: 250 }, () => ({ row: rowOf(newId()), matches: true }))
  change(...many)
  let rows = 0
  let skipped = 0
  while (rows + skipped < 250) {
    const { value } = await frames.next()
    if (value?.event === 'executions') rows++
    else if (value?.event === 'skipped') skipped += value.data.rows
    else throw new Error(`unexpected ${value?.event}`)
  }
  expect(rows).toBeLessThanOrEqual(200)
  expect(skipped).toBeGreaterThan(0)
})

test('a reader that resumes: the rows since its cursor; resync if they are not known', async () => {
  const { follow, rows, state, requests } = await listSetup()
  const id = newId()
  rows.set(id, { row: rowOf(id), matches: true })
  const resumed = framesOf(await follow('', { 'last-event-id': CURSOR }))
  expect(await take(resumed, 2)).toEqual([['ready', { topics: ['executions'] }], asRow(id, 1)])
  expect(requests.find(({ since }) => since)?.since).toEqual(new Date(Number(CURSOR)))
  state.cut = true
  const lost = ['resync', { topic: 'executions' }]
  const cut = framesOf(await follow('', { 'last-event-id': CURSOR }))
  expect(await take(cut, 2)).toEqual([expect.anything(), lost])
  const before = requests.filter(({ since }) => since).length
  const old = framesOf(await follow('', { 'last-event-id': String(NOW - 7_200_000) }))
  expect(await take(old, 2)).toEqual([expect.anything(), lost])
  expect(requests.filter(({ since }) => since)).toHaveLength(before)
})

test('a service that fails for a while: the missed rows are sent afterwards', async () => {
  const { follow, change, state, requests } = await listSetup()
  const frames = framesOf(await follow())
  await take(frames, 1)
  state.isFailing = true
  const id = newId()
  const before = requests.length
  change({ row: rowOf(id), matches: true })
  await expect.poll(() => requests.length).toBeGreaterThan(before)
  state.isFailing = false
  expect(await take(frames, 1)).toEqual([asRow(id, 1)])
})

test('readers with equal filters and rights: one read for all of them', async () => {
  const { follow, change, requests } = await listSetup()
  const readers = await Promise.all([1, 2, 3].map(async () => framesOf(await follow())))
  for (const frames of readers) await take(frames, 1)
  const id = newId()
  change({ row: rowOf(id), matches: true })
  for (const frames of readers) expect(await take(frames, 1)).toEqual([asRow(id, 1)])
  expect(requests.filter(({ execution_ids }) => execution_ids.includes(id))).toHaveLength(1)
})
