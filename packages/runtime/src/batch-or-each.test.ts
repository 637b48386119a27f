import { expect, test } from 'vitest'
import { batchOrEach } from './batch-or-each.ts'
import { unavailable } from './faults.ts'

test('a batch that succeeds: one call, a value for each item', async () => {
  const calls: number[][] = []
  const settled = await batchOrEach([1, 2], async (items) => {
    calls.push([...items])
    return items.map((item) => item * 10)
  })
  expect(settled).toEqual([{ value: 10 }, { value: 20 }])
  expect(calls).toEqual([[1, 2]])
})

test('a batch that fails with a Fault: every item has it, nothing is retried', async () => {
  const outage = unavailable('away')
  let calls = 0
  const settled = await batchOrEach([1, 2], () => {
    calls++
    return Promise.reject(outage)
  })
  expect(settled).toEqual([{ error: outage }, { error: outage }])
  expect(calls).toBe(1)
})

test('a batch with one bad item: the others succeed', async () => {
  const bug = new Error('odd')
  const settled = await batchOrEach([1, 2, 4], async (items) => {
    if (items.some((item) => item % 2 === 1)) throw bug
    return items.map((item) => item * 10)
  })
  expect(settled).toEqual([{ error: bug }, { value: 20 }, { value: 40 }])
})
