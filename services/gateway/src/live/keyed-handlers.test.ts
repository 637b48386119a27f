import { expect, test } from 'vitest'
import { KeyedHandlers } from './keyed-handlers.ts'

test('messages: passed to the handlers of their key, until the last one is removed', () => {
  const handlers = new KeyedHandlers<number>()
  const heard: string[] = []
  const stops = ['a', 'b'].map((name) => handlers.add('k', (n) => heard.push(`${name}${n}`)))
  handlers.receive('k', 1)
  handlers.receive('other', 2)
  expect(stops[0]?.()).toBe(false)
  handlers.deliver('k', 3)
  expect(stops[1]?.()).toBe(true)
  expect(stops[1]?.()).toBe(false)
  handlers.receive('k', 4)
  expect(heard).toEqual(['a1', 'b1', 'b3'])
})

test('a key without a received message for one interval: silent, even after a delivered one', () => {
  const handlers = new KeyedHandlers<number>()
  handlers.add('k', () => {})
  expect(handlers.takeSilentKeys()).toEqual([])
  handlers.deliver('k', 1)
  expect(handlers.takeSilentKeys()).toEqual(['k'])
  handlers.receive('k', 2)
  expect(handlers.takeSilentKeys()).toEqual([])
})
