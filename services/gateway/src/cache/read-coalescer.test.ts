import { expect, test } from 'vitest'
import { ReadCoalescer } from './read-coalescer.ts'

/** Reads that end on request, with the order in which they began. */
function scripted() {
  const begun: { end(): void; fail(): void }[] = []
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const time = begun.length
      begun.push({ end: () => resolve(time), fail: () => reject(new Error('away')) })
    })
  return { begun, ask }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a call during a read: shares the next read, which begins after the call', async () => {
  const reads = new ReadCoalescer<number>()
  const { begun, ask } = scripted()
  const first = reads.read('a', ask)
  const others = [reads.read('a', ask), reads.read('a', ask)]
  expect(begun).toHaveLength(1)
  begun[0]?.end()
  expect(await first).toBe(0)
  await turn()
  const later = reads.read('a', ask)
  expect(begun).toHaveLength(2)
  begun[1]?.end()
  expect(await Promise.all(others)).toEqual([1, 1])
  await turn()
  begun[2]?.end()
  expect(await later).toBe(2)
  await turn()
  void reads.read('a', ask)
  expect(begun).toHaveLength(4)
})

test('a failed read: fails its callers and no later ones', async () => {
  const reads = new ReadCoalescer<number>()
  const { begun, ask } = scripted()
  const first = expect(reads.read('a', ask)).rejects.toThrow('away')
  const second = reads.read('a', ask)
  const other = reads.read('b', ask)
  begun[0]?.fail()
  await first
  await turn()
  begun[1]?.end()
  begun[2]?.end()
  expect([await other, await second]).toEqual([1, 2])
})
