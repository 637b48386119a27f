import { expect, test } from 'vitest'
import { linearPattern } from './pattern.ts'

test.each([
  ['^[a-z]+$', 'abc', true],
  ['^[a-z]+$', 'abc\n', false],
  ['b', 'abc', true],
  ['^\\d{4}-\\d{2}$', '2026-01', true],
  ['^\\p{L}+$', 'grüße', true],
  ['(?i)^yes$', 'YES', true],
])('pattern %s, text %s: found as given', (pattern, text, found) => {
  expect(linearPattern(pattern)?.test(text)).toBe(found)
})

test.each([
  ['looks ahead', 'a(?=b)'],
  ['looks behind', '(?<!a)b'],
  ['refers back', '(a)\\1'],
  ['is no pattern', '('],
  ['is long', 'a'.repeat(1_001)],
  ['is large', '(a{30}){30}'],
  ['is larger still', '((a{100}){100}){100}'],
])('a pattern that %s: refused', (_, pattern) => {
  expect(linearPattern(pattern)).toBeUndefined()
})

test('patterns on which other engines backtrack without end: matched in linear time', () => {
  const begun = performance.now()
  for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(.*)*(.*)*(.*)*x$'])
    expect(linearPattern(pattern)?.test(`${'a'.repeat(10_000)}!`)).toBe(false)
  // An hour is more like it.
  expect(performance.now() - begun).toBeLessThan(20_000)
})
