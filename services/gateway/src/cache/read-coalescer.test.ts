import { expect, test } from 'vitest'
import { ReadCoalescer } from './read-coalescer.ts'

/** Creates reads that end on demand; each resolves to its number. */
function controlledReads() {
  const begun: { end(): void; fail(): void }[] = []
  const fetch = () =>
    new Promise<number>((resolve, reject) => {
      const number = begun.length
      begun.push({ end: () => resolve(number), fail: () => reject(new Error('away')) })
    })
  return { begun, fetch }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('calls during a read: share the next one, which begins after it', async () => {
  const reads = new ReadCoalescer<number>()
  const { begun, fetch } = controlledReads()
  const first = reads.read('a', fetch)
  const others = [reads.read('a', fetch), reads.read('a', fetch)]
  expect(begun).toHaveLength(1)
  begun[0]?.end()
  expect(await first).toBe(0)
  await turn()
  const later = reads.read('a', fetch)
  expect(begun).toHaveLength(2)
  begun[1]?.end()
  expect(await Promise.all(others)).toEqual([1, 1])
  await turn()
  begun[2]?.end()
  expect(await later).toBe(2)
  await turn()
  void reads.read('a', fetch)
  expect(begun).toHaveLength(4)
})

test('a failed read: its callers fail, later ones do not', async () => {
  const reads = new ReadCoalescer<number>()
  const { begun, fetch } = controlledReads()
  const first = expect(reads.read('a', fetch)).rejects.toThrow('away')
  const second = reads.read('a', fetch)
  const other = reads.read('b', fetch)
  begun[0]?.fail()
  await first
  await turn()
  begun[1]?.end()
  begun[2]?.end()
  expect([await other, await second]).toEqual([1, 2])
})
