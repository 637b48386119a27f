import { expect, test } from 'vitest'
import { metricsJson, statusOf } from './presence.ts'

test('no live stream: offline, whatever the health', () => {
  expect(statusOf({ connected: false, healthy: false })).toBe('offline')
  expect(statusOf({ connected: false, healthy: true })).toBe('offline')
  expect(statusOf({ connected: true, healthy: false })).toBe('unhealthy')
  expect(statusOf({ connected: true, healthy: true })).toBe('online')
})

test('valid metrics: stored as sent', () => {
  expect(metricsJson({ 'a.b': 1.5, c: 0 })).toBe('{"a.b":1.5,"c":0}')
  expect(metricsJson({})).toBe('{}')
})

test.each<[string, Record<string, number>]>([
  ['an infinite number', { a: 1, b: Number.POSITIVE_INFINITY }],
  ['NaN', { a: Number.NaN }],
  ['an empty key', { '': 1 }],
  ['a key of 65 characters', { ['k'.repeat(65)]: 1 }],
  ['65 keys', Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, i]))],
])('metrics with %s: all are dropped', (_, values) => {
  expect(metricsJson(values)).toBeUndefined()
})
