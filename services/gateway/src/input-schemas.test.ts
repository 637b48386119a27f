import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { InputSchemas } from './input-schemas.ts'

const workflow = (id: string, schema: unknown) =>
  ({ id, input_schema_json: schema === '' ? '' : JSON.stringify(schema) }) as Workflow

/** The places and types of what is wrong. */
function faultsOf(schemas: InputSchemas, of: Workflow, input: string): unknown {
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

test('each fault has its place, a missing or surplus member its name', () => {
  const schemas = new InputSchemas()
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

test('without a schema anything goes; formats and patterns are left to the worker', () => {
  const schemas = new InputSchemas()
  expect(faultsOf(schemas, workflow('1', ''), 'null')).toEqual([])
  const strings = { type: 'string', format: 'date-time', pattern: '^(a+)+$' }
  const hostile = JSON.stringify(`${'a'.repeat(40)}!`)
  expect(faultsOf(schemas, workflow('2', strings), hostile)).toEqual([])
})

test('more schemas than are kept do no harm', () => {
  const schemas = new InputSchemas()
  for (let i = 0; i < 510; i++)
    expect(faultsOf(schemas, workflow(String(i), { const: i }), '-1')).toHaveLength(1)
  expect(faultsOf(schemas, workflow('0', { const: 0 }), '0')).toEqual([])
})
