import { expect, test } from 'vitest'
import { keysOf, parseKeys } from './pair-keys.ts'

const SECRET = 'a secret for these keys'
const ofCatalog = keysOf(SECRET, 'catalog')

test('a service: has a key for each service that it calls or that calls it', () => {
  const names = (service: string) =>
    keysOf(SECRET, service).map((key) => key.replace(/:[0-9a-f]{64}$/, ''))
  expect(names('catalog')).toEqual(['gateway:catalog', 'scheduler:catalog', 'dispatcher:catalog'])
  expect(names('dispatcher')).toEqual([
    'gateway:dispatcher',
    'dispatcher:catalog',
    'dispatcher:executions',
  ])
  expect(names('mcp')).toEqual([])
})

test('keys of one secret and of another: all differ', () => {
  const all = ['gateway', 'scheduler', 'dispatcher'].flatMap((service) => [
    ...keysOf(SECRET, service),
    ...keysOf('another secret', service),
  ])
  const keys = all.map((key) => key.split(':').at(-1))
  expect(new Set(keys).size).toBe(new Set(all).size)
})

test.each<[string, string[], string]>([
  ['one is missing', ofCatalog.slice(1), 'catalog also needs gateway:catalog'],
  [
    'one is of other services',
    [...ofCatalog, ...keysOf(SECRET, 'identity')],
    'gateway:identity and',
  ],
  ['one is no key', [...ofCatalog, 'gateway:catalog:abc'], '64 hex digits'],
  ['one is something else', ['secret'], '64 hex digits'],
])('keys when %s: refused', (_, keys, message) => {
  expect(() => parseKeys('catalog', keys)).toThrow(message)
})
