import type { Schema } from './validator.ts'

const REF = '#/$defs/'
/** Limit on references and unions between the root and the model. */
const MAX_HOPS = 16

type Place = readonly string[]

/**
 * Returns the places that a run without an input leaves empty: the required members if the input is a
 * model, or the input itself if it is one of several such models. Every other type, `Optional` or not,
 * accepts a missing input, because sources of the reference release rely on `ctx.input or default`.
 */
export function describeMissingInput(schema: Schema): Place[] {
  return placesIn(schema, schema, MAX_HOPS)
}

function placesIn(schema: Schema, root: Schema, hops: number): Place[] {
  if (hops === 0) return []
  if (Array.isArray(schema.anyOf)) {
    const alternatives = schema.anyOf.map((one) => placesIn(one as Schema, root, hops - 1))
    if (alternatives.some((places) => places.length === 0)) return []
    return alternatives.length === 1 ? (alternatives[0] as Place[]) : [[]]
  }
  if (Array.isArray(schema.required)) return schema.required.map((name) => [String(name)])
  const target = schema.$ref === undefined ? undefined : findDefinition(String(schema.$ref), root)
  return target ? placesIn(target, root, hops - 1) : []
}

function findDefinition(ref: string, { $defs }: Schema): Schema | undefined {
  const name = ref.startsWith(REF) ? decodeURIComponent(ref.slice(REF.length)) : undefined
  const definitions = ($defs ?? {}) as Record<string, Schema>
  return name !== undefined && Object.hasOwn(definitions, name) ? definitions[name] : undefined
}
