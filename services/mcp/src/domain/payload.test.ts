import { expect, test } from 'vitest'
import { configOf, elements, objectOf, payloadOf, pick } from './payload.ts'

test.each([
  [
    '{"n":9007199254740993,"__proto__":1, "n": 1e400}',
    '{"n":9007199254740993,"__proto__":1, "n": 1e400}',
  ],
  ['null', 'null'],
  ['', 'null'],
  ['plain text', '"plain text"'],
  ['{"half":', '"{\\"half\\":"'],
  ['"a\nb"', '"\\"a\\nb\\""'],
])('the input %j travels as %s', (text, body) => {
  expect(payloadOf(text)).toBe(body)
})

test('nesting that no server would take is refused at once', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  expect(() => payloadOf(deep)).toThrow('nested deeper than 512 levels')
  expect(() => configOf(deep)).toThrow('nested deeper than 512 levels')
})

test('a schedule configuration must be JSON', () => {
  expect(configOf('{"type": "once"}')).toBe('{"type": "once"}')
  expect(() => configOf('daily')).toThrow('Invalid JSON in schedule_config')
})

test('answers are cut and joined as text', () => {
  const answer = '{"a": 1.0, "b": [1, {"c":"]"}], "d": 9007199254740993}'
  expect(objectOf({ ...pick(answer, ['d', 'a']), none: undefined })).toBe(
    '{"d":9007199254740993,"a":1.0}',
  )
  expect(elements('[1, {"c":"]"} ]')).toEqual(['1', '{"c":"]"}'])
  expect(() => pick(answer, ['x'])).toThrow("the server's answer has no x")
  expect(() => pick('[]', ['x'])).toThrow("the server's answer has no x")
  expect(() => elements('{}')).toThrow("the server's answer is no list")
})
