import { expect, test } from 'vitest'
import { getElements, getMembers, toJsonObject, toPayload, toScheduleConfig } from './payload.ts'

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
])('toPayload %j: %s', (text, body) => {
  expect(toPayload(text)).toBe(body)
})

test('nesting deeper than the server accepts: refused, without recursion', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  expect(() => toPayload(deep)).toThrow('nested deeper than 512 levels')
  expect(() => toScheduleConfig(deep)).toThrow('nested deeper than 512 levels')
})

test('a schedule configuration that is not JSON: refused', () => {
  expect(toScheduleConfig('{"type": "once"}')).toBe('{"type": "once"}')
  expect(() => toScheduleConfig('daily')).toThrow('Invalid JSON in schedule_config')
})

test('members and elements of an answer: sliced and joined as text', () => {
  const answer = '{"a": 1.0, "b": [1, {"c":"]"}], "d": 9007199254740993}'
  expect(toJsonObject({ ...getMembers(answer, ['d', 'a']), none: undefined })).toBe(
    '{"d":9007199254740993,"a":1.0}',
  )
  expect(getElements('[1, {"c":"]"} ]')).toEqual(['1', '{"c":"]"}'])
  expect(() => getMembers(answer, ['x'])).toThrow("the server's answer has no x")
  expect(() => getMembers('[]', ['x'])).toThrow("the server's answer has no x")
  expect(() => getElements('{}')).toThrow("the server's answer is not a list")
})
