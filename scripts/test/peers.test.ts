import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

const { guarded } = await import('../../bench/peers/guard.mjs' as string)

const ORDER = { work: 'hello', inFlight: 8, seconds: 0 }
const never = new Promise<never>(() => {})
const peer = (load: () => Promise<unknown>, exited: Promise<unknown> = never) => ({
  name: 'Peer',
  load,
  processes: [
    { name: 'server', exited: never },
    { name: 'worker', exited },
  ],
})

test('a load that ends: answers its result', async () => {
  const result = { count: 3 }
  expect(
    await guarded(
      peer(async () => result),
      ORDER,
    ),
  ).toBe(result)
})

test('a worker of a peer that ends during a load: named in the error', async () => {
  const ended = sleep(20, { code: null, signal: 'SIGKILL' })
  await expect(
    guarded(
      peer(() => never, ended),
      ORDER,
    ),
  ).rejects.toThrow('Peer: its process worker ended (SIGKILL)')
})

test('a load that does not end: given up after its time', async () => {
  await expect(
    guarded(
      peer(() => never),
      ORDER,
      30,
    ),
  ).rejects.toThrow('Peer: hello at 8 in flight did not end within 0.03 s')
})
