import { expect, test } from 'vitest'
import type { Schema } from '../schema/known-types.ts'
import { compare } from './compare.ts'

const integer = { type: 'integer' }
const string = { type: 'string' }
const object = (properties: Schema, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
})
const either = (...anyOf: Schema[]): Schema => ({ anyOf })
const nothing = { type: 'null' }
const tree = (leaf: Schema): Schema => ({
  $ref: '#/$defs/Tree',
  $defs: { Tree: object({ left: either({ $ref: '#/$defs/Tree' }, leaf) }, { required: ['left'] }) },
})

test.each<[what: string, older: Schema | undefined, newer: Schema | undefined]>([
  ['nothing declared, then nothing', undefined, undefined],
  ['a schema that goes away', integer, undefined],
  ['the same', object({ a: integer }), object({ a: integer })],
  ['whole numbers, then any', integer, { type: 'number' }],
  ['a value that becomes optional', string, either(string, nothing)],
  ['alternatives in another order', either(string, nothing), either(nothing, string)],
  ['more words', { enum: ['a', 'b'], type: 'string' }, { enum: ['b', 'a', 'c'], type: 'string' }],
  ['words, then any text', { const: 'a', type: 'string' }, string],
  ['true or false by name', { type: 'boolean' }, { enum: [true, false] }],
  ['wider bounds', { ...integer, minimum: 1 }, { ...integer, exclusiveMinimum: 0 }],
  ['a greater step', { ...integer, multipleOf: 6 }, { ...integer, multipleOf: 3 }],
  ['longer text', { ...string, maxLength: 5 }, { ...string, maxLength: 6 }],
  ['the same pattern', { ...string, pattern: '^a' }, { ...string, pattern: '^a' }],
  ['a format that goes away', { ...string, format: 'uuid' }, string],
  [
    'a list of wider items',
    { type: 'array', items: integer },
    { type: 'array', items: { type: 'number' } },
  ],
  [
    'a pair, then any list',
    { type: 'array', prefixItems: [integer, integer], minItems: 2, maxItems: 2 },
    { type: 'array', items: integer },
  ],
  [
    'a member that need not be there any more',
    object({ a: integer }, { required: ['a'] }),
    object({ a: integer }),
  ],
  [
    'another title and default',
    object({ a: { ...integer, title: 'A', default: 1 } }),
    object({ a: { ...integer, title: 'B' } }),
  ],
  [
    'a closed class with one member more',
    object({ a: integer }, { additionalProperties: false }),
    object({ a: integer, b: string }, { additionalProperties: false }),
  ],
  [
    'a mapping of wider values',
    { type: 'object', additionalProperties: integer },
    { type: 'object', additionalProperties: either(integer, string) },
  ],
  ['a tree of wider leaves', tree(integer), tree({ type: 'number' })],
])('%s: compatible', (_, older, newer) => {
  expect(compare(older, newer)).toEqual({
    compatibility: 'compatible',
    ofNamedMembers: 'compatible',
    problems: [],
  })
})

test.each<[string, Schema | undefined, Schema | undefined, loc: unknown[], example: unknown]>([
  ['a schema that is new', undefined, integer, [], null],
  ['a type that is another', integer, string, [], 0],
  ['a value that may not be null any more', either(string, nothing), string, [], null],
  ['one word less', { enum: ['a', 'b'] }, { enum: ['a'] }, [], 'b'],
  ['a narrower bound', { ...integer, minimum: 1 }, { ...integer, minimum: 2 }, [], 1],
  ['a bound that is not met', { type: 'number' }, { type: 'number', exclusiveMaximum: 9 }, [], 9],
  ['a step', integer, { ...integer, multipleOf: 2 }, [], 1],
  ['shorter text', { ...string, maxLength: 6 }, { ...string, maxLength: 5 }, [], 'xxxxxx'],
  ['a pattern', string, { ...string, pattern: '^a+$' }, [], ''],
  [
    'a member that must be there',
    object({ a: integer }),
    object({ a: integer }, { required: ['a'] }),
    ['a'],
    {},
  ],
  ['a member of another type', object({ a: integer }), object({ a: string }), ['a'], { a: 0 }],
  [
    'a class that closes',
    object({ a: integer }),
    object({}, { additionalProperties: false }),
    ['a'],
    { a: 0 },
  ],
  [
    'a list whose items must differ',
    { type: 'array', items: integer },
    { type: 'array', items: integer, uniqueItems: true },
    [],
    [0, 0],
  ],
  ['a tree of narrower leaves', tree({ type: 'number' }), tree(integer), ['left'], { left: 0.5 }],
])('%s: incompatible', (_, ...[older, newer, loc, value]) => {
  const found = compare(older, newer)
  expect(found.problems.map((problem) => problem.loc)).toContainEqual(loc)
  expect(found).toMatchObject({ compatibility: 'incompatible', example: { value } })
})

test('added member: older inputs may hold any value under its name', () => {
  const found = compare(object({ a: integer }), object({ a: integer, b: integer }))
  expect(found).toEqual({
    compatibility: 'incompatible',
    ofNamedMembers: 'compatible',
    problems: [{ loc: ['b'], msg: 'it was anything and must be integer' }],
    example: { value: { b: null } },
  })
})

test.each<[string, Schema, Schema]>([
  ['a format', string, { ...string, format: 'date-time' }],
  ['words for a format', { enum: ['a'] }, { ...string, format: 'uuid' }],
  ['another pattern', { ...string, pattern: '^[ab]$' }, { ...string, pattern: '^(a|b)$' }],
  ['a rule of another dialect', string, { ...string, contentEncoding: 'base64' }],
  [
    'a union that covers in parts',
    { type: 'integer' },
    either({ type: 'integer', minimum: 0 }, { type: 'integer', maximum: 0 }),
  ],
  [
    'an alternative that is itself',
    string,
    { $ref: '#/$defs/A', $defs: { A: either({ $ref: '#/$defs/A' }, integer) } },
  ],
])('%s: unknown', (_, older, newer) => {
  const found = compare(older, newer)
  expect(found.compatibility).toBe('unknown')
  expect(found.problems.length).toBeGreaterThan(0)
})

test('large schemas: compared in bounded time', () => {
  const words = (n: number, from: number) => ({
    enum: Array.from({ length: n }, (_, i) => `w${from + i}`),
  })
  const classes = (n: number) =>
    either(...Array.from({ length: n }, (_, i) => object({ [`m${i}`]: integer })))
  const nested = (leaf: Schema, depth: number): Schema =>
    depth === 0 ? leaf : either(nested(leaf, depth - 1), object({ a: nested(leaf, depth - 1) }))
  const verdicts = [
    compare(words(50_000, 0), words(50_000, 1)),
    compare(classes(2_000), classes(2_001)),
    compare(nested(integer, 10), nested(string, 10)),
  ].map(({ compatibility }) => compatibility)
  expect(verdicts).toEqual(['incompatible', 'unknown', 'unknown'])
})

test('mutually recursive classes: compared or undecided, never an error', () => {
  const count = 60
  const ref = (i: number) => ({ $ref: `#/$defs/M${i % count}` })
  const members = (i: number) =>
    Array.from({ length: 10 }, (_, k) => [
      `f${k}`,
      either(ref(i * 7 + k * 13), ref(i + k + 1), integer),
    ])
  const defs = (last: Schema) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        `M${i}`,
        object({ ...Object.fromEntries(members(i)), ...(i === count - 1 ? { last } : {}) }),
      ]),
    )
  const older = { ...ref(0), $defs: defs(integer) }
  const newer = { ...ref(0), $defs: defs(string) }
  expect(compare(older, newer)).toMatchObject({
    compatibility: 'unknown',
    problems: [{ loc: [], msg: 'too much to compare' }],
  })
})
