import { permits } from '@windlass/domain/permissions'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers, effectOf } from './simulation.ts'

test.each([
  [['*'], 'a:b', true],
  [['a:b'], 'a:b', true],
  [['a:*'], 'a:b:*', true],
  [['a:*'], 'a:*:c', true],
  [['a:*:c'], 'a:b:c', true],
  [['a:*:c'], 'a:*', false],
  [['a:b', 'a:c'], 'a:*', false],
  [['a:b:*'], 'a:*', false],
  [['a', 'a:*:*'], 'a:*', true],
  [['a:*:*'], 'a:*', false],
  [['*:b'], 'a:*', false],
  [['a:*'], '*', false],
  [[], 'a', false],
])('%j covers %j: %j', (held, permission, expected) =>
  expect(covers(held, permission)).toBe(expected),
)

const word = fc.constantFrom('a', 'b', 'c')
const granted = fc
  .array(fc.oneof(word, fc.constant('*')), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(':'))
const needed = fc.array(word, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(':'))
const some = fc.array(granted, { maxLength: 4 })
const allowed = (held: readonly string[], need: string) => held.some((one) => permits(one, need))

/** Lists every need of up to five segments; `zz` is a word that no permission names. */
const NEEDS = (() => {
  const words = ['a', 'b', 'c', 'zz']
  let all = words
  let longer = words
  for (let length = 2; length <= 5; length++) {
    longer = longer.flatMap((one) => words.map((next) => `${one}:${next}`))
    all = [...all, ...longer]
  }
  return all
})()

test('any permissions: covers is true if and only if every need is allowed', () => {
  fc.assert(
    fc.property(some, granted, (held, permission) => {
      const all = NEEDS.filter((need) => permits(permission, need)).every((need) =>
        allowed(held, need),
      )
      expect(covers(held, permission)).toBe(all)
    }),
    { numRuns: 300 },
  )
})

test('any change: a need gained or lost is allowed by a permission granted or taken', () => {
  fc.assert(
    fc.property(some, some, some, needed, (before, after, others, need) => {
      const effect = effectOf({ before, after, others })
      const had = allowed([...others, ...before], need)
      const has = allowed([...others, ...after], need)
      if (!had && has) expect(allowed(effect.granted, need)).toBe(true)
      if (had && !has) expect(allowed(effect.taken, need)).toBe(true)
      if (effect.granted.length === 0) expect(has && !had).toBe(false)
      if (effect.taken.length === 0) expect(had && !has).toBe(false)
    }),
    { numRuns: 2_000 },
  )
})

test('a change and its reverse: grants and takes swap; no change, none of either', () => {
  fc.assert(
    fc.property(some, some, some, (before, after, others) => {
      expect(effectOf({ before, after: before, others })).toEqual({ granted: [], taken: [] })
      const there = effectOf({ before, after, others })
      const back = effectOf({ before: after, after: before, others })
      expect(back).toEqual({ granted: there.taken, taken: there.granted })
    }),
  )
})

test('another role grants everything: nothing is granted or taken', () => {
  fc.assert(
    fc.property(some, some, (before, after) => {
      expect(effectOf({ before, after, others: ['*'] })).toEqual({ granted: [], taken: [] })
    }),
  )
})
