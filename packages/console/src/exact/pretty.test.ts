import { expect, test } from 'vitest'
import { layOut } from './pretty.ts'

const shown = (text: string) =>
  layOut(text)
    .lines.map(({ depth, tokens }) => '  '.repeat(depth) + tokens.map((one) => one.text).join(''))
    .join('\n')

const tokensOf = (text: string) => layOut(text).lines.flatMap(({ tokens }) => tokens)

test('numbers beyond 2^53, key order, repeated keys, escapes: shown as they are stored', () => {
  const text = '{"b":9007199254740993,"a":1.10,"a":-0,"\\u00e9":"\\/ \\ud800","__proto__":null}'
  expect(shown(text)).toBe(
    [
      '{',
      '  "b": 9007199254740993,',
      '  "a": 1.10,',
      '  "a": -0,',
      '  "\\u00e9": "\\/ \\ud800",',
      '  "__proto__": null',
      '}',
    ].join('\n'),
  )
})

test.each([
  '[]',
  '{}',
  '[{},[],"a, b: {c}"]',
  '{"a":[1,{"b":[[]]}],"c":"\\"}"}',
  '" "',
  '12345678901234567890',
])('%s: without blanks outside of strings it is the same text', (text) => {
  const parts = tokensOf(text).map(({ text: part }) => (part === ': ' ? ':' : part))
  expect(parts.join('')).toBe(text)
})

test('empty containers: one line', () => {
  expect(shown('{"a":[],"b":{}}')).toBe('{\n  "a": [],\n  "b": {}\n}')
})

test('more lines than allowed: cut, and said', () => {
  const { lines, isCut } = layOut(`[${'1,'.repeat(20)}1]`, 5)
  expect([lines.length, isCut]).toEqual([5, true])
})

test('kinds: names of members differ from strings', () => {
  expect(tokensOf('{"a" : "b"}').map(({ kind }) => kind)).toEqual([
    ...['mark', 'key', 'mark', 'string', 'mark'],
  ])
})
