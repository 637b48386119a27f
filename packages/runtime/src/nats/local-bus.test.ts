import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { LocalBus } from './local-bus.ts'

const EMPTY = new Uint8Array()

test.each([
  ['a.b', ['a.b']],
  ['a.*', ['a.b', 'a.c']],
  ['a.>', ['a.b', 'a.c', 'a.b.c']],
  ['*.*.c', ['a.b.c']],
])('subscription to %s: receives the subjects that match', async (pattern, expected) => {
  const bus = new LocalBus()
  const seen: string[] = []
  bus.subscribe(pattern, (_, subject) => seen.push(subject))
  for (const subject of ['a', 'a.b', 'a.c', 'a.b.c', 'b']) bus.publish(subject, EMPTY)
  await turn()
  expect(seen).toEqual(expected)
})

test('message: delivered after the publisher has returned, to each subscription once', async () => {
  const bus = new LocalBus()
  const seen: string[] = []
  const hear = (bytes: Uint8Array) => seen.push(Buffer.from(bytes).toString())
  const stop = bus.subscribe('a', hear)
  bus.subscribe('a', hear)
  bus.publish('a', Buffer.from('1'))
  expect(seen).toEqual([])
  await turn()
  expect(seen).toEqual(['1', '1'])
  stop()
  bus.publish('a', Buffer.from('2'))
  await turn()
  expect(seen).toEqual(['1', '1', '2'])
})
