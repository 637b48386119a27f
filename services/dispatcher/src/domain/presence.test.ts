import { expect, test } from 'vitest'
import { metricsJson, statusOf } from './presence.ts'

test('a worker without a stream is offline, whatever its health', () => {
  expect(statusOf({ connected: false, healthy: false })).toBe('offline')
  expect(statusOf({ connected: false, healthy: true })).toBe('offline')
  expect(statusOf({ connected: true, healthy: false })).toBe('unhealthy')
  expect(statusOf({ connected: true, healthy: true })).toBe('online')
})

test('a snapshot of metrics is kept as it was sent', () => {
  expect(metricsJson({ 'a.b': 1.5, c: 0 })).toBe('{"a.b":1.5,"c":0}')
  expect(metricsJson({})).toBe('{}')
})

test.each<[string, Record<string, number>]>([
  ['a number that is not finite', { a: 1, b: Number.POSITIVE_INFINITY }],
  ['no number', { a: Number.NaN }],
  ['an empty key', { '': 1 }],
  ['a key of 65 characters', { ['k'.repeat(65)]: 1 }],
  ['65 keys', Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, i]))],
])('one with %s is dropped as a whole', (_, values) => {
  expect(metricsJson(values)).toBeUndefined()
})
