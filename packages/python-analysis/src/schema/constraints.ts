import { linearPattern } from '@windlass/domain/pattern'
import { constantOf } from '../python/constants.ts'
import type { Expression } from '../python/expression.ts'
import type { Schema } from './known-types.ts'
import { toJson } from './to-json.ts'

type Options = Map<string, Expression>

const BOUNDS = new Map(
  Object.entries({
    gt: 'exclusiveMinimum',
    ge: 'minimum',
    lt: 'exclusiveMaximum',
    le: 'maximum',
    multiple_of: 'multipleOf',
  }),
)
const LENGTHS = new Map(
  Object.entries<Record<string, string>>({
    min_length: { string: 'minLength', array: 'minItems', object: 'minProperties' },
    max_length: { string: 'maxLength', array: 'maxItems', object: 'maxProperties' },
    min_items: { array: 'minItems' },
    max_items: { array: 'maxItems' },
  }),
)

/** Narrows a schema by the constraints of a field or `Annotated`. Returns those it cannot express. */
export function constrain(schema: Schema, options: Options): string[] {
  const left: string[] = []
  for (const [name, value] of options) {
    const known = constantOf(value)
    const keyword = BOUNDS.get(name)
    const keywords = LENGTHS.get(name)
    if (keyword) applyBound(schema, keyword, known, left)
    else if (keywords) applyLength(schema, keywords, known, left)
    else if (name === 'pattern' || name === 'regex') applyPattern(schema, known, left)
  }
  return left
}

/** Copies title, description and examples of a field into its schema. */
export function describe(schema: Schema, options: Options): void {
  for (const name of ['title', 'description', 'examples']) {
    const value = options.get(name)
    const known = value ? toJson(constantOf(value)) : undefined
    if (known !== undefined && known !== null) schema[name] = known
  }
}

/** Returns the parts of a schema that have one of the types: itself, or some of its alternatives. */
function partsOf(schema: Schema, types: string[]): Schema[] {
  if (Array.isArray(schema.anyOf)) {
    return (schema.anyOf as Schema[]).flatMap((alternative) => partsOf(alternative, types))
  }
  return types.includes(String(schema.type)) ? [schema] : []
}

function applyBound(schema: Schema, keyword: string, value: unknown, left: string[]): void {
  const numbers = partsOf(schema, ['integer', 'number'])
  // JSON Schema has no bounds for dates; only the workflow checks them.
  if (typeof value !== 'number' || numbers.length === 0) left.push(keyword)
  else for (const part of numbers) part[keyword] = value
}

function applyLength(
  schema: Schema,
  keywords: Record<string, string>,
  value: unknown,
  left: string[],
): void {
  const parts = partsOf(schema, Object.keys(keywords))
  if (typeof value !== 'number' || parts.length === 0) left.push('length')
  else for (const part of parts) part[keywords[String(part.type)] as string] = value
}

/** Adds a pattern only if it can be matched in linear time (RE2). */
function applyPattern(schema: Schema, value: unknown, left: string[]): void {
  const parts = partsOf(schema, ['string'])
  const checked = typeof value === 'string' && parts.length > 0 && linearPattern(value)
  if (checked) for (const part of parts) part.pattern = value
  else left.push('pattern')
}
