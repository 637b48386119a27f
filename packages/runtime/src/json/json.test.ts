import { expect, test } from 'vitest'
import { decodeJson } from './decode-json.ts'
import { checkJson, elementsOf, JsonError, membersOf, stringOf } from './json.ts'

const DEPTH = 512

const reason = (text: string, depth = DEPTH) => {
  try {
    checkJson(text, depth)
    return 'fine'
  } catch (error) {
    return (error as JsonError).reason
  }
}

test.each([
  'null',
  ' true ',
  '0',
  '-0',
  '1.0',
  '1e400',
  '1E+2',
  '9007199254740993',
  '""',
  '"\\ud800"',
  '"\\u0000"',
  '"\u2028😀"',
  '[]',
  '{}',
  '[ ]',
  '{ }',
  '[1,[2],{"a":[]}]',
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  '\t[\n1\r]',
  `"${'x'.repeat(100_000)}"`,
])('%s: JSON', (text) => {
  expect(reason(text)).toBe('fine')
  expect(() => JSON.parse(text)).not.toThrow()
})

test.each([
  '',
  ' ',
  '{',
  '[',
  '"',
  '{"a"',
  'nul',
  '{"a":1}}',
  '[1,]',
  "{'a':1}",
  '-',
  '01',
  '1.',
  '.5',
  '+1',
  '"\\u12"',
  '"\\x"',
  '\ufeff{}',
  '{"a":1,}',
  '{1:2}',
  '[1 2]',
  'NaN',
  'Infinity',
  '{"a":NaN}',
  '"a\nb"',
  '"\u0000"',
  '\u0000',
  '1 2',
  '[}',
  '{]',
  '{"a"}',
  '{"a":}',
  ',',
  'truefalse',
])('%j: malformed', (text) => {
  expect(reason(text)).toBe('malformed')
  expect(() => JSON.parse(text)).toThrow()
})

test('nesting of one container above the limit: too deep', () => {
  const nested = (n: number) => '['.repeat(n) + ']'.repeat(n)
  expect(reason(nested(4), 4)).toBe('fine')
  expect(reason(nested(5), 4)).toBe('too_deep')
  expect(reason('{"a":[{"b":[]}]}', 4)).toBe('fine')
  expect(reason(nested(1_000_000))).toBe('too_deep')
})

test('texts broken at random: accepted exactly if JSON.parse accepts them', () => {
  const parts = ['{', '}', '[', ']', ',', ':', '"a"', '1', 'null', ' ', '"', '\\', '-', 'e']
  let seed = 7
  const next = (n: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % n
  }
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 1 + next(9) }, () => parts[next(parts.length)]).join('')
    let valid = true
    try {
      JSON.parse(text)
    } catch {
      valid = false
    }
    expect(reason(text) === 'fine', text).toBe(valid)
  }
})

test('members of an object: their exact text; of equal names, the last one', () => {
  const text =
    ' { "a" : 9007199254740993 , "b\\u0062": {"x":"}\\""} ,"a":[1, {"y":"]"}],"__proto__":1e400}'
  expect(membersOf(text)).toEqual(
    new Map([
      ['a', '[1, {"y":"]"}]'],
      ['bb', '{"x":"}\\""}'],
      ['__proto__', '1e400'],
    ]),
  )
  expect(membersOf('{}')).toEqual(new Map())
  expect(membersOf('[1]')).toBeUndefined()
})

test('elements of an array: their exact text', () => {
  expect(elementsOf(' [ 1.0 , "a,]" ,{"b":[2]}, [] ] ')).toEqual([
    '1.0',
    '"a,]"',
    '{"b":[2]}',
    '[]',
  ])
  expect(elementsOf('[]')).toEqual([])
  expect(elementsOf('{}')).toBeUndefined()
})

test('a string: its text; any other JSON: undefined', () => {
  expect(stringOf('"a\\nb"')).toBe('a\nb')
  expect(stringOf('1')).toBeUndefined()
  expect(stringOf(undefined)).toBeUndefined()
})

test('bytes that are not UTF-8: refused', () => {
  expect(() => decodeJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow(JsonError)
  expect(() => decodeJson(Buffer.from([0x22, 0xc0, 0xaf, 0x22]))).toThrow(JsonError)
  expect(decodeJson(Buffer.from('"ü"'))).toBe('"ü"')
})

test('more elements and members than allowed: refused as too many, nested ones included', () => {
  const check = (text: string, maxValues: number) => () => checkJson(text, 512, maxValues)
  for (const [text, values] of [
    ['1', 1],
    ['[]', 1],
    ['[1,2]', 3],
    ['{"a":1,"b":[]}', 3],
    ['[[[1]],[[]]]', 6],
    ['{"a":{"b":{"c":1}}}', 4],
  ] as const) {
    expect(check(text, values), text).not.toThrow()
    expect(check(text, values - 1), text).toThrow(`more than ${values - 1} values`)
  }
})
