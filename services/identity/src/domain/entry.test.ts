import { expect, test } from 'vitest'
import { checkValue, nameOf, namesOf } from './entry.ts'

test.each([
  ['a', 'a'],
  ['odd name+1.x', 'odd name+1.x'],
  ['e\u0301', '\u00e9'],
  ['🔐'.repeat(255), '🔐'.repeat(255)],
  ['__proto__', '__proto__'],
])('%.20j is a name', (text, name) => expect(nameOf(text)).toBe(name))

test.each(['', '.', '..', 'a/b', 'a\0', 'a\n', '\ud800', '\u200b', 'x'.repeat(256)])(
  '%.20j is no name',
  (text) => expect(() => nameOf(text)).toThrow(expect.objectContaining({ kind: 'invalid' })),
)

test('a batch asks for each name once, and for a hundred at most', () => {
  expect(namesOf(['a', 'b', 'a'])).toEqual(['a', 'b'])
  expect(namesOf([])).toEqual([])
  const many = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)
  expect(namesOf(many(100))).toHaveLength(100)
  expect(() => namesOf(many(101))).toThrow(expect.objectContaining({ kind: 'too_large' }))
})

test.each(['""', 'false', '0', '[]', '{"a":null}', '9007199254740993', '"\\ud800"', ' 1 '])(
  'the value %s is taken',
  (value) => expect(() => checkValue(value)).not.toThrow(),
)

test.each([
  ['null', 'unprocessable'],
  [' null\n', 'unprocessable'],
  ['', 'unprocessable'],
  ['canary', 'unprocessable'],
  ['{"a":canary}', 'unprocessable'],
  [`"${'é'.repeat(32_768)}"`, 'too_large'],
])('the value %.20s is refused without being told', (value, kind) => {
  expect(() => checkValue(value)).toThrow(expect.objectContaining({ kind }))
  expect(() => checkValue(value)).toThrow(/^(?!.*canary)/)
})

test('a value may be as long as the bound', () => {
  expect(() => checkValue(`"${'x'.repeat(65_534)}"`)).not.toThrow()
  expect(() => checkValue(`"${'x'.repeat(65_535)}"`)).toThrow()
})
