import { expect, test } from 'vitest'
import { CONNECTED, FREE_SLOT, matrixOf, type WorkerPlace } from './why-view.ts'

const place = (name: string, changes: Partial<WorkerPlace> = {}): WorkerPlace => ({
  ...{ name, status: 'online', eligible: true, unmet: null, lacking: [], used: 1, capacity: 4 },
  ...changes,
})

const NEEDS = ["label 'zone' = 'eu'", 'cpu 4']

test('needs against workers: met or not in words, the worker that lacks least first', () => {
  const view = matrixOf(
    NEEDS,
    [
      place('far', { lacking: NEEDS, status: 'offline' }),
      place('near', { lacking: ['cpu 4'] }),
      place('full', { lacking: ['cpu 4'], used: 4 }),
    ],
    8,
  )
  expect(view.workers).toEqual([
    { name: 'near', unmetCount: 1, canTake: false, isNearest: true },
    { name: 'full', unmetCount: 2, canTake: false, isNearest: false },
    { name: 'far', unmetCount: 3, canTake: false, isNearest: false },
  ])
  const words = view.rows.map(({ need, cells }) => [need, ...cells.map(({ word }) => word)])
  expect(words).toEqual([
    ["label 'zone' = 'eu'", 'has it', 'has it', 'lacks it'],
    ['cpu 4', 'lacks it', 'lacks it', 'lacks it'],
    [CONNECTED, 'online', 'online', 'offline'],
    [FREE_SLOT, 'free, holds 1 of 4', 'full, holds 4 of 4', 'free, holds 1 of 4'],
  ])
  expect(view.rows[1]?.cells.map(({ isMet }) => isMet)).toEqual([false, false, false])
})

test('a worker that can take it: none is marked as the nearest', () => {
  const view = matrixOf(NEEDS, [place('a'), place('b', { capacity: null })], 8)
  expect(view.workers.map(({ canTake, isNearest }) => [canTake, isNearest])).toEqual([
    [true, false],
    [true, false],
  ])
})

test('more workers than columns: the rest is counted', () => {
  const places = Array.from({ length: 10 }, (_, i) => place(`w${i}`))
  expect(matrixOf([], places, 8)).toMatchObject({ hidden: 2, workers: { length: 8 } })
})

test('a worker of other namespaces: what it lacks is a row of its own', () => {
  const view = matrixOf([], [place('a', { lacking: ["namespace 'team'"] })], 8)
  expect(view.rows[0]).toEqual({
    need: "namespace 'team'",
    cells: [{ isMet: false, word: 'lacks it' }],
  })
})
