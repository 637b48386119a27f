import { Fault, unavailable } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { inRuns, orAlone, persistently } from './batches.ts'

const MIB = 1_048_576

test('a batch is cut where it would not fit a message; what fits none goes alone', () => {
  const sizes = [1, 15 * MIB, 2 * MIB, 20 * MIB, 1]
  expect(inRuns(sizes, (size) => size)).toEqual([[1, 15 * MIB], [2 * MIB], [20 * MIB], [1]])
  expect(inRuns([], () => 0)).toEqual([[]])
})

test('an outage is everybody’s, a bug is only of those that have it', async () => {
  const outage = unavailable('away')
  const away = await orAlone([1, 2], () => Promise.reject(outage))
  expect(away).toEqual([{ error: outage }, { error: outage }])
  const bug = new Error('odd')
  const some = await orAlone([1, 2, 4], async (items) => {
    if (items.some((item) => item % 2 === 1)) throw bug
    return items.map((item) => item * 10)
  })
  expect(some).toEqual([{ error: bug }, { value: 20 }, { value: 40 }])
})

test('only an outage is waited out', async () => {
  let calls = 0
  const call = async () => {
    calls++
    if (calls < 3) throw unavailable('away')
    return calls
  }
  expect(await persistently(call)).toBe(3)
  const refused = new Fault('conflict', 'no')
  await expect(persistently(() => Promise.reject(refused))).rejects.toBe(refused)
})
