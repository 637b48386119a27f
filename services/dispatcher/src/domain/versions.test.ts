import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareVersions } from './versions.ts'

test.each([
  ['1.10', '1.9', 1],
  ['1.0', '1.0.0', 0],
  ['2', '10', -1],
  ['2.0rc1', '2.0', -1],
  ['2.0a2', '2.0b1', -1],
  ['2.0rc2', '2.0rc1', 1],
  ['2.0.post1', '2.0', 1],
  ['2.0.dev3', '2.0a1', -1],
  ['v1.2', '1.2', 0],
  ['2.1.0+cu118', '2.1.0', 0],
])('%s compared with %s: %i', (a, b, order) => {
  expect(compareVersions(a, b)).toBe(order)
  expect(compareVersions(b, a)).toBe(order === 0 ? 0 : -order)
})

test('text that is not a version: undefined', () => {
  expect(compareVersions('x', '1')).toBeUndefined()
  expect(compareVersions('1', '')).toBeUndefined()
})

const version = fc
  .tuple(
    fc.array(fc.nat(20), { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', 'a1', 'b2', 'rc1', '.post1', '.dev2'),
  )
  .map(([parts, suffix]) => parts.join('.') + suffix)

test('any versions: the order is total and transitive', () => {
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      expect(compareVersions(a, b)).toBe(-(compareVersions(b, a) ?? Number.NaN) || 0)
      const sorted = [a, b, c].sort((x, y) => compareVersions(x, y) ?? Number.NaN)
      expect(compareVersions(sorted[0] ?? '', sorted[2] ?? '')).toBeLessThanOrEqual(0)
    }),
  )
})
