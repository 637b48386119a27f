import { expect, test } from 'vitest'
import { parseEntryName, parseEntryNames, requireValidValue } from './entry.ts'

test.each([
  ['a', 'a'],
  ['odd name+1.x', 'odd name+1.x'],
  ['e\u0301', '\u00e9'],
  ['🔐'.repeat(255), '🔐'.repeat(255)],
  ['__proto__', '__proto__'],
])('valid name: %.20j', (text, name) => expect(parseEntryName(text)).toBe(name))

test.each(['', '.', '..', 'a/b', 'a\0', 'a\n', '\ud800', '\u200b', 'x'.repeat(256)])(
  'invalid name: %.20j',
  (text) =>
    expect(() => parseEntryName(text)).toThrow(expect.objectContaining({ kind: 'invalid' })),
)

test('batch of names: duplicates are removed and more than 100 names are refused', () => {
  expect(parseEntryNames(['a', 'b', 'a'])).toEqual(['a', 'b'])
  expect(parseEntryNames([])).toEqual([])
  const many = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)
  expect(parseEntryNames(many(100))).toHaveLength(100)
  expect(() => parseEntryNames(many(101))).toThrow(expect.objectContaining({ kind: 'too_large' }))
})

test.each(['""', 'false', '0', '[]', '{"a":null}', '9007199254740993', '"\\ud800"', ' 1 '])(
  'valid value: %s',
  (value) => expect(() => requireValidValue(value)).not.toThrow(),
)

test.each([
  ['null', 'unprocessable'],
  [' null\n', 'unprocessable'],
  ['', 'unprocessable'],
  ['canary', 'unprocessable'],
  ['{"a":canary}', 'unprocessable'],
  [`"${'é'.repeat(32_768)}"`, 'too_large'],
])('invalid value %.20s: refused, and the error does not contain it', (value, kind) => {
  expect(() => requireValidValue(value)).toThrow(expect.objectContaining({ kind }))
  expect(() => requireValidValue(value)).toThrow(/^(?!.*canary)/)
})

test('value of exactly the maximum length: accepted', () => {
  expect(() => requireValidValue(`"${'x'.repeat(65_534)}"`)).not.toThrow()
  expect(() => requireValidValue(`"${'x'.repeat(65_535)}"`)).toThrow()
})
