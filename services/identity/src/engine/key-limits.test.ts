import { expect, test } from 'vitest'
import { parseLifetime, parseLimits } from './key-limits.ts'

test.each<[days: number, standard: number, max: number, result: number | 'refused']>([
  [0, 0, 0, 0],
  [7, 0, 0, 7],
  [36_500, 0, 0, 36_500],
  [36_501, 0, 0, 'refused'],
  [0, 90, 0, 90],
  [400, 90, 0, 400],
  [0, 0, 30, 30],
  [0, 90, 30, 30],
  [30, 90, 30, 30],
  [31, 90, 30, 'refused'],
])('lifetime of %i days, default %i, maximum %i: %s', (days, standard, max, result) => {
  const lifetimes = { default_lifetime_days: standard, max_lifetime_days: max }
  if (result === 'refused')
    expect(() => parseLifetime(days, lifetimes)).toThrow(
      expect.objectContaining({ kind: 'unprocessable' }),
    )
  else expect(parseLifetime(days, lifetimes)).toBe(result)
})

test('limits: stored in normal form, and none as undefined', () => {
  expect(parseLimits({ permissions: [], networks: [] })).toEqual({})
  expect(parseLimits({ permissions: ['a:b', 'a:b'], networks: ['::1', '::1'] })).toEqual({
    permissions: ['a:b'],
    networks: ['::1'],
  })
  for (const networks of [['x'], ['10.0.0.0/33'], Array.from({ length: 21 }, () => '::1')])
    expect(() => parseLimits({ permissions: [], networks })).toThrow()
  expect(() => parseLimits({ permissions: ['a b'], networks: [] })).toThrow()
})
