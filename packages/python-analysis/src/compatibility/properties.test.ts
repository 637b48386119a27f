import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Schema } from '../schema/known-types.ts'
import { compare } from './compare.ts'
import { isValid } from './validator.ts'

/** Schemas with the keywords that the catalog generates. */
const schemas = fc.letrec<{ any: Schema }>((tie) => {
  const bound = fc.integer({ min: -3, max: 3 })
  const size = fc.nat({ max: 3 })
  const some = <T extends Record<string, fc.Arbitrary<unknown>>>(keywords: T) =>
    fc.record(keywords, { requiredKeys: ['type'] as never })
  const number = some({
    type: fc.constantFrom('integer', 'number'),
    minimum: bound,
    exclusiveMinimum: bound,
    maximum: bound,
    exclusiveMaximum: bound,
    multipleOf: fc.constantFrom(1, 2, 3, 0.5),
  })
  const text = some({
    type: fc.constant('string'),
    minLength: size,
    maxLength: size,
    pattern: fc.constantFrom('^a', 'b$', '^[ab]*$'),
  })
  const words = fc.constantFrom('a', 'b', 1, 2, true, null, 0.5)
  const list = some({
    type: fc.constant('array'),
    items: tie('any'),
    prefixItems: fc.array(tie('any'), { minLength: 1, maxLength: 2 }),
    minItems: size,
    maxItems: size,
    uniqueItems: fc.boolean(),
  })
  const name = fc.constantFrom('a', 'b', 'c')
  const map = some({
    type: fc.constant('object'),
    properties: fc.dictionary(name, tie('any'), { maxKeys: 3 }),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    additionalProperties: fc.oneof(fc.boolean(), tie('any')),
    propertyNames: text,
    minProperties: size,
    maxProperties: size,
  })
  return {
    any: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.constantFrom({}, { type: 'null' }, { type: 'boolean' }, { $ref: '#/$defs/A' }),
      number,
      text,
      fc.record({ enum: fc.uniqueArray(words, { minLength: 1, maxLength: 3 }) }),
      fc.record({ const: words }),
      list,
      map,
      fc.record({ anyOf: fc.array(tie('any'), { minLength: 1, maxLength: 3 }) }),
    ) as fc.Arbitrary<Schema>,
  }
}).any

/** Schemas with one shared definition, which may refer to itself inside a list or object. */
const rooted = fc.tuple(schemas, schemas).map(
  ([root, leaf]): Schema => ({
    ...root,
    $defs: { A: { type: 'object', properties: { a: { anyOf: [leaf, { type: 'null' }] } } } },
  }),
)

/** Values of the same alphabet as the schemas. Objects have a prototype, as those that `JSON.parse` makes. */
const values = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(null, true, false, '', 'a', 'b', 'ab', 'ba', 'abab', 'c', 0.5, 1.5, 0.25),
    fc.integer({ min: -4, max: 4 }),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('any'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).any

/** Compiles a schema with the options of the gateway. */
const compile = (schema: Schema) =>
  new Ajv2020({
    strict: false,
    ownProperties: true,
    multipleOfPrecision: 9,
    logger: false,
  }).compile(schema)

const RUNS = Number(process.env.PROPERTY_RUNS ?? 150)

test('any two schemas: verdict and counterexample agree with the input validator', () => {
  const seen = { compatible: 0, incompatible: 0, unknown: 0 }
  /** Versions usually differ a little, so pairs include small changes. */
  const pairs = fc.oneof(
    fc.tuple(rooted, rooted),
    rooted.chain((schema) =>
      rooted.map(({ $defs }): [Schema, Schema] => [schema, { ...schema, $defs }]),
    ),
    rooted.chain((schema) =>
      schemas.map((one): [Schema, Schema] => [
        schema,
        { anyOf: [one, { ...schema, $defs: {} }], $defs: schema.$defs },
      ]),
    ),
  )
  fc.assert(
    fc.property(
      pairs,
      fc.array(values, { minLength: 20, maxLength: 20 }),
      ([older, newer], inputs) => {
        const { compatibility, example } = compare(older, newer)
        seen[compatibility]++
        const [takes, nowTakes] = [compile(older), compile(newer)]
        const refused = inputs.find((input) => takes(input) && !nowTakes(input))
        if (compatibility === 'compatible') expect(refused).toBeUndefined()
        if (example) expect([takes(example.value), nowTakes(example.value)]).toEqual([true, false])
      },
    ),
    { numRuns: RUNS },
  )
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 100)
})

test('inputs with named members only: verdict is consistent with the general one', () => {
  fc.assert(
    fc.property(rooted, rooted, (older, newer) => {
      const { compatibility, ofNamedMembers } = compare(older, newer)
      if (compatibility === 'compatible') expect(ofNamedMembers).toBe('compatible')
      if (ofNamedMembers === 'incompatible') expect(compatibility).toBe('incompatible')
    }),
    { numRuns: RUNS },
  )
})

test('any value: valid exactly if the input validator accepts it', () => {
  fc.assert(
    fc.property(rooted, fc.array(values, { minLength: 10, maxLength: 10 }), (schema, inputs) => {
      const takes = compile(schema)
      for (const input of inputs) expect(isValid(schema, input, schema)).toBe(takes(input))
    }),
    { numRuns: RUNS },
  )
})
