import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { InputSchemaCache } from './input-schemas.ts'

const workflow = (id: string, schema: unknown) =>
  ({ id, input_schema_json: schema === '' ? '' : JSON.stringify(schema) }) as Workflow

/** Lists location and type of each problem. */
function faultsOf(schemas: InputSchemaCache, of: Workflow, input: string): unknown {
  try {
    schemas.check(of, input)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(Fault)
    const { problems } = (error as Fault).details as { problems: { loc: unknown; type: string }[] }
    return problems.map(({ loc, type }) => [loc, type])
  }
}

const schema = {
  type: 'object',
  properties: {
    items: { type: 'array', items: { $ref: '#/$defs/Item' } },
    kind: { enum: ['a', 'b'] },
    'a/b': { type: 'integer' },
    constructor: { type: 'string' },
  },
  required: ['items', 'constructor'],
  additionalProperties: false,
  $defs: { Item: { type: 'object', properties: { n: { type: 'number' } } } },
}

test('an invalid input: each problem has its location, with the name of a missing member', () => {
  const schemas = new InputSchemaCache()
  const input = '{"items":[{"n":1},{"n":"x"}],"kind":"c","a/b":1.5,"more":1}'
  expect(faultsOf(schemas, workflow('1', schema), input)).toEqual([
    [['body', 'constructor'], 'missing'],
    [['body', 'more'], 'additionalProperties'],
    [['body', 'items', 1, 'n'], 'type'],
    [['body', 'kind'], 'enum'],
    [['body', 'a/b'], 'type'],
  ])
  const good = '{"items":[],"constructor":"x","a/b":1}'
  expect(faultsOf(schemas, workflow('1', schema), good)).toEqual([])
})

test('an encoded input: is not checked, unlike an object with other members', () => {
  const schemas = new InputSchemaCache()
  const encoded = '{"$codec":"aes-gcm","key":"2026-11","data":"YWJj"}'
  expect(faultsOf(schemas, workflow('1', schema), encoded)).toEqual([])
  expect(
    faultsOf(schemas, workflow('1', schema), ` { "data" : "", "$codec" : "x", "key":"" } `),
  ).toEqual([])
  for (const other of [
    '{"$codec":"aes-gcm","key":"2026-11","data":1}',
    '{"$codec":"aes-gcm","key":"2026-11"}',
    '{"$codec":"a","key":"b","data":"c","more":"d"}',
    '[{"$codec":"a","key":"b","data":"c"}]',
  ])
    expect(faultsOf(schemas, workflow('1', schema), other)).not.toEqual([])
})

test('no schema, or only a format: any input is valid', () => {
  const schemas = new InputSchemaCache()
  expect(faultsOf(schemas, workflow('1', ''), 'null')).toEqual([])
  const dated = { type: 'string', format: 'date-time' }
  expect(faultsOf(schemas, workflow('2', dated), '"soon"')).toEqual([])
})

test('pattern, enum, uniqueItems and multipleOf: checked', () => {
  const of = (schema: unknown, input: string) =>
    faultsOf(new InputSchemaCache(), workflow('1', schema), input)
  expect(of({ type: 'string', pattern: '^[a-z]+$' }, '"abc1"')).toEqual([[['body'], 'pattern']])
  expect(of({ type: 'string', pattern: '^[a-z]+$' }, '"abc"')).toEqual([])
  // A pattern without a linear-time matcher is not checked.
  expect(of({ type: 'string', pattern: '(?!a)' }, '"a"')).toEqual([])
  expect(of({ enum: ['a', 1, null] }, '"b"')).toEqual([[['body'], 'enum']])
  expect(of({ enum: ['a', 1, null] }, 'null')).toEqual([])
  const set = { type: 'array', uniqueItems: true }
  expect(of(set, '[{"a":1,"b":[2]},{"b":[2],"a":1}]')).toEqual([[['body'], 'uniqueItems']])
  expect(of(set, '[1,"1",[1],true]')).toEqual([])
  expect(of({ type: 'number', multipleOf: 0.1 }, '0.3')).toEqual([])
  expect(of({ type: 'number', multipleOf: 0.1 }, '0.35')).toEqual([[['body'], 'multipleOf']])
})

const tree = {
  $ref: '#/$defs/A',
  $defs: {
    A: {
      type: 'object',
      properties: { x: { anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }] } },
    },
    B: {
      type: 'object',
      properties: { x: { anyOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }] } },
    },
  },
}
const nested = (leaf: string, depth: number) => '{"x":'.repeat(depth) + leaf + '}'.repeat(depth)
const list = (item: string, count: number) => `[${Array(count).fill(item).join()}]`

test.each<[string, schema: unknown, input: string, type: string | undefined]>([
  ['nested alternatives', tree, nested('1', 60), 'too_complex'],
  ['nested alternatives with a valid leaf', tree, nested('{}', 60), undefined],
  [
    'a pattern prone to backtracking',
    { type: 'string', pattern: '^(a+)+$' },
    `"${'a'.repeat(5_000)}!"`,
    'pattern',
  ],
  [
    'a text too long for its pattern',
    { type: 'string', pattern: '^(a+)+$' },
    `"${'a'.repeat(4_000_000)}"`,
    'too_complex',
  ],
  [
    'a set of 100,000 items',
    { type: 'array', uniqueItems: true },
    list('{"a":1}', 100_000),
    'uniqueItems',
  ],
  [
    'a million invalid items',
    { type: 'array', items: { type: 'string' } },
    list('1', 1_000_000),
    'type',
  ],
  [
    '300,000 items of 50,000 words',
    { type: 'array', items: { enum: Array.from({ length: 50_000 }, (_, i) => `w${i}`) } },
    list('"w49999"', 300_000),
    undefined,
  ],
  [
    'a type that refers to itself',
    { $ref: '#/$defs/A', $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] } } },
    '1',
    'too_complex',
  ],
])('%s: checked in bounded time', (_, ...[schema, input, type]) => {
  const begun = performance.now()
  const faults = faultsOf(new InputSchemaCache(), workflow('1', schema), input) as [
    unknown,
    string,
  ][]
  expect(faults[0]?.[1]).toBe(type)
  // Each takes less than a second on an idle machine; without bounds, hours.
  expect(performance.now() - begun).toBeLessThan(10_000)
})

test('more schemas than the cache holds: still checked', () => {
  const schemas = new InputSchemaCache()
  for (let i = 0; i < 510; i++)
    expect(faultsOf(schemas, workflow(String(i), { const: i }), '-1')).toHaveLength(1)
  expect(faultsOf(schemas, workflow('0', { const: 0 }), '0')).toEqual([])
})
