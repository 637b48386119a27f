import { constantOf } from '../python/constants.ts'
import type { Expression } from '../python/expression.ts'
import { typeOf } from './enums.ts'
import {
  knownName,
  LISTS,
  MAPPINGS,
  type Schema,
  SETS,
  scalarSchema,
  TUPLES,
  WRAPPERS,
} from './known-types.ts'
import type { TypeContext } from './type-context.ts'
import { subscriptOf } from './type-expression.ts'

/** Returns the schema of a type of the standard library or pydantic; undefined for other types. */
export function knownSchema(
  name: string,
  args: Expression[],
  where: string,
  context: TypeContext,
): Schema | undefined {
  const item = () => (args[0] ? context.read(args[0], where) : {})
  if (LISTS.has(name)) return { type: 'array', items: item() }
  if (SETS.has(name)) return { type: 'array', items: item(), uniqueItems: true }
  if (TUPLES.has(name)) return tupleSchema(args, where, context)
  if (MAPPINGS.has(name)) return mappingSchema(args, where, context)
  if (name === 'Counter') return { type: 'object', additionalProperties: { type: 'integer' } }
  if (name === 'Optional' && args[0]) return unionSchema([item(), { type: 'null' }])
  if (name === 'Union') return unionSchema(args.map((arg) => context.read(arg, where)))
  if (name === 'Literal') return literalSchema(args, where, context)
  if (WRAPPERS.has(name)) return item()
  return scalarSchema(name)
}

/** Returns the union of schemas, without duplicates. */
export function unionSchema(schemas: Schema[]): Schema {
  const flat = schemas.flatMap((schema) =>
    Array.isArray(schema.anyOf) && Object.keys(schema).length === 1
      ? (schema.anyOf as Schema[])
      : [schema],
  )
  const distinct = [...new Map(flat.map((schema) => [JSON.stringify(schema), schema])).values()]
  return distinct.length === 1 ? (distinct[0] as Schema) : { anyOf: distinct }
}

function tupleSchema(args: Expression[], where: string, context: TypeContext): Schema {
  const [first, second] = args
  if (!first) return { type: 'array', items: {} }
  if (second?.node.type === 'ellipsis') return { type: 'array', items: context.read(first, where) }
  const empty = first.node.type === 'tuple'
  const prefixItems = empty ? [] : args.map((arg) => context.read(arg, where))
  const { length } = prefixItems
  return {
    type: 'array',
    ...(length > 0 ? { prefixItems } : {}),
    minItems: length,
    maxItems: length,
  }
}

function mappingSchema(args: Expression[], where: string, context: TypeContext): Schema {
  const [key, value] = args
  if (!key || !value) return { type: 'object', additionalProperties: true }
  const names = context.read(key, where)
  // JSON keys are strings: only a key type that narrows strings adds a rule.
  const narrows = names.type === 'string' ? Object.keys(names).length > 1 : names.$ref
  return {
    type: 'object',
    ...(narrows ? { propertyNames: names } : {}),
    additionalProperties: context.read(value, where),
  }
}

function literalSchema(args: Expression[], where: string, context: TypeContext): Schema {
  const values = args.flatMap((arg) => {
    const subscript = subscriptOf(arg)
    const nested = subscript && knownName([`typing.${subscript.base.node.text}`]) === 'Literal'
    if (nested) return subscript.args.map(constantOf)
    return [constantOf(arg)]
  })
  if (
    values.some((value) => value === undefined || (typeof value === 'object' && value !== null))
  ) {
    context.note(where, 'a literal of it is not a constant')
    return {}
  }
  const distinct = [...new Set(values)]
  const only = distinct.length === 1 ? { const: distinct[0] } : { enum: distinct }
  return { ...only, ...typeOf(distinct) }
}
