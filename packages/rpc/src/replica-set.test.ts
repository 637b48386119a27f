import { expect, onTestFinished, test, vi } from 'vitest'
import type { MultiplexedConnection } from './multiplexed-connection.ts'
import { ReplicaSet } from './replica-set.ts'

/** A set of replicas behind `name:1` and one address, and a resolver that the test controls. */
async function setUp(first: string[] = ['10.0.0.1:1', '10.0.0.2:1']) {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const names = { found: first as string[] | undefined }
  const open = new Map<string, number>()
  const count = (address: string, change: number) =>
    open.set(address, (open.get(address) ?? 0) + change)
  const set = new ReplicaSet({
    addresses: ['name:1', '10.9.9.9:2'],
    acquire: (address) => {
      count(address, 1)
      return { address } as unknown as MultiplexedConnection
    },
    release: (address) => count(address, -1),
    resolve: async () => names.found ?? Promise.reject(new Error('ENOTFOUND')),
  })
  onTestFinished(() => set.close())
  const listed = () =>
    set.connections.map((one) => (one as unknown as { address: string }).address).sort()
  await vi.advanceTimersByTimeAsync(0)
  return { set, names, listed, open, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) }
}

test('a name with several addresses: a connection to each, besides those of other addresses', async () => {
  const { listed } = await setUp()
  expect(listed()).toEqual(['10.0.0.1:1', '10.0.0.2:1', '10.9.9.9:2'])
})

test('an address joins, one leaves: only the new one is called; calls in flight keep their connection', async () => {
  const { listed, names, open, pass } = await setUp()
  names.found = ['10.0.0.2:1', '10.0.0.3:1']
  await pass(5_000)
  expect(listed()).toEqual(['10.0.0.2:1', '10.0.0.3:1', '10.9.9.9:2'])
  expect(open.get('10.0.0.1:1')).toBe(1)
  await pass(60_000)
  expect(open.get('10.0.0.1:1')).toBe(0)
})

test('an address that returns soon: keeps its connection', async () => {
  const { listed, names, open, pass } = await setUp()
  names.found = ['10.0.0.2:1']
  await pass(5_000)
  names.found = ['10.0.0.1:1', '10.0.0.2:1']
  await pass(5_000)
  expect(listed()).toEqual(['10.0.0.1:1', '10.0.0.2:1', '10.9.9.9:2'])
  await pass(120_000)
  expect(open.get('10.0.0.1:1')).toBe(1)
})

test.each([
  ['cannot be resolved', undefined],
  ['has no address', []],
])('a name that %s: its last addresses are kept', async (_, found) => {
  const { listed, names, pass } = await setUp()
  names.found = found
  await pass(20_000)
  expect(listed()).toEqual(['10.0.0.1:1', '10.0.0.2:1', '10.9.9.9:2'])
})

test('closed: every connection is released, and nothing is resolved', async () => {
  const { set, names, open, listed, pass } = await setUp()
  names.found = ['10.0.0.2:1']
  await pass(5_000)
  set.close()
  names.found = ['10.0.0.4:1']
  await pass(120_000)
  expect([...open.values()]).toEqual([0, 0, 0])
  expect(listed()).toEqual([])
})
