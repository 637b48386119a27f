import { expect, test } from 'vitest'
import {
  batchOf,
  declaredSecrets,
  listed,
  readNames,
  readSecretsRequest,
  undeclared,
} from './entries.ts'

const refusal = (kind: string) => expect.objectContaining({ kind })
const many = JSON.stringify(Array.from({ length: 101 }, (_, i) => `n${i}`))

test('a bare array of names: read as a batch', () => {
  expect(readNames('[ "a", "b c+d", "\\u00e9" ]')).toEqual(['a', 'b c+d', 'é'])
  expect(readNames('[]')).toEqual([])
})

test.each([
  ['{"names":[]}', 'unprocessable'],
  ['"abc"', 'unprocessable'],
  ['null', 'unprocessable'],
  ['[1]', 'unprocessable'],
  ['[null]', 'unprocessable'],
  ['[["a"]]', 'unprocessable'],
  ['["a/b"]', 'unprocessable'],
  ['[""]', 'unprocessable'],
  ['["a\\u0000"]', 'unprocessable'],
])('the batch %s: %s', (text, kind) => expect(() => readNames(text)).toThrow(refusal(kind)))

test('a batch of 101 names: too_large', () =>
  expect(() => readNames(many)).toThrow(refusal('too_large')))

test('a request of a worker: its execution and the names are read', () => {
  expect(readSecretsRequest('{"names":["a","/"],"execution_id":"x","more":1}')).toEqual({
    execution_id: 'x',
    names: ['a', '/'],
  })
})

test.each([
  ['{"execution_id":"x"}', "'names' must be a list of strings"],
  ['{"execution_id":"x","names":null}', "'names' must be a list of strings"],
  ['{"execution_id":"x","names":"a"}', "'names' must be a list of strings"],
  ['{"execution_id":"x","names":{"a":1}}', "'names' must be a list of strings"],
  ['{"execution_id":"x","names":["a",1]}', "'names' must be a list of strings"],
  ['{"names":["a"]}', "'execution_id' is required"],
  ['{"names":["a"],"execution_id":""}', "'execution_id' is required"],
  ['{"names":["a"],"execution_id":7}', "'execution_id' is required"],
  ['{"names":["a"],"execution_id":null}', "'execution_id' is required"],
])('the request %s: %s', (text, message) => {
  expect(() => readSecretsRequest(text)).toThrow(message)
  expect(() => readSecretsRequest(text)).toThrow(refusal('invalid'))
})

test('a request of 101 names or without an object: too_large, unprocessable', () => {
  expect(() => readSecretsRequest(`{"execution_id":"x","names":${many}}`)).toThrow(
    refusal('too_large'),
  )
  expect(() => readSecretsRequest('["a"]')).toThrow(refusal('unprocessable'))
})

test('undeclared names: found in any normalization form, also names of prototype members', () => {
  const declared = declaredSecrets('{"secret_requests":["cafe\\u0301","a"]}')
  expect(undeclared(['b', 'caf\u00e9', 'a', '__proto__', 'b', 'constructor'], declared)).toEqual([
    '__proto__',
    'b',
    'constructor',
  ])
  expect(declaredSecrets('{}').size).toBe(0)
})

test('a batch: values byte for byte under the requested names; missing ones are named', () => {
  const entries = [
    { name: 'caf\u00e9', value_json: '9007199254740993' },
    { name: '__proto__', value_json: ' {"a":1e400} ' },
  ]
  expect(batchOf(['cafe\u0301', '__proto__', '__proto__'], entries, 'secrets').text).toBe(
    '{"cafe\u0301":9007199254740993,"__proto__": {"a":1e400} }',
  )
  expect(() => batchOf(['a', 'caf\u00e9', "it's"], entries, 'configs')).toThrow(
    `The following configs were not found: ['a', "it's"]`,
  )
})

test('a list of names: formatted as by Python, long names cut', () => {
  expect(listed(['a', 'b c'])).toBe("['a', 'b c']")
  expect(listed(["it's", `"it's"`, 'a\\b'])).toBe(`["it's", '"it\\'s"', 'a\\\\b']`)
  expect(listed(['x'.repeat(1_000)])).toHaveLength(259)
})
