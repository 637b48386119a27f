import type { Schema } from '../schema/known-types.ts'

/** Schema, or `true` (any value) or `false` (no value) as JSON Schema allows. */
export type Subschema = Schema | boolean

/** Keywords that describe a value and reject none. */
const ANNOTATIONS = new Set(
  '$defs title description default examples writeOnly readOnly deprecated $comment'.split(' '),
)
const MAX_HOPS = 64

/** Follows references; undefined for one that leads nowhere. */
export function resolveRef(part: Subschema, root: Schema): Subschema | undefined {
  let here = part
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    if (typeof here === 'boolean' || here.$ref === undefined) return here
    if (rulesOf(here).some((keyword) => keyword !== '$ref')) return undefined
    const name = /^#\/\$defs\/(.+)$/.exec(String(here.$ref))?.[1]
    const defs = objectOf(root.$defs)
    const key = name === undefined ? undefined : decodeURIComponent(name)
    if (key === undefined || !Object.hasOwn(defs, key)) return undefined
    here = defs[key] as Subschema
  }
  return undefined
}

/** Returns the keywords of a schema that can reject a value. */
export const rulesOf = (schema: Schema): string[] =>
  Object.keys(schema).filter((keyword) => !ANNOTATIONS.has(keyword))

export const objectOf = (value: unknown): Record<string, Subschema> =>
  typeof value === 'object' && value !== null ? (value as Record<string, Subschema>) : {}

export const listOf = <T = Subschema>(value: unknown): T[] => (Array.isArray(value) ? value : [])

/** Returns the number of a keyword, or the default without it. */
export function numberAt<D>(schema: Schema, keyword: string, without: D): number | D {
  const value = schema[keyword]
  return typeof value === 'number' ? value : without
}

/** Returns the schema for one index of an array. */
export const itemAt = (schema: Schema, index: number): Subschema =>
  listOf(schema.prefixItems)[index] ?? (schema.items as Subschema | undefined) ?? true

/** Returns the schema for members that are not listed in `properties`. */
export const otherMembers = (schema: Schema): Subschema =>
  (schema.additionalProperties as Subschema | undefined) ?? true

/** Returns the values of an enum, const, boolean or null; undefined if they cannot be listed. */
export function valuesOf(schema: Schema): unknown[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum
  if ('const' in schema) return [schema.const]
  if (schema.type === 'boolean') return [false, true]
  return schema.type === 'null' ? [null] : undefined
}
