import { z } from 'zod'

/** Expectation of each kind of setting, as the end of a sentence. */
const EXPECTATIONS = z.registry<{ text: string }>()

/** Names what a setting expects, for the error about another value. */
export function expecting<S extends z.ZodType>(text: string, schema: S): S {
  EXPECTATIONS.add(schema, { text })
  return schema
}

interface Definition {
  innerType?: z.ZodType
  in?: z.ZodType
  shape?: Record<string, z.ZodType>
}

const definitionOf = (schema: z.ZodType) => schema.def as unknown as Definition

/** Returns what the setting at a path expects; undefined if its schema does not say. */
export function findExpectation(root: z.ZodType, path: readonly PropertyKey[]): string | undefined {
  const schema = path.reduce<z.ZodType | undefined>(
    (table, key) => table && shapeOf(table)?.[String(key)],
    root,
  )
  for (let inner = schema; inner; inner = unwrap(inner)) {
    const expectation = EXPECTATIONS.get(inner)
    if (expectation) return expectation.text
  }
  return undefined
}

/** Returns the keys of the table at a path. */
export function keysAt(root: z.ZodType, path: readonly PropertyKey[]): string[] {
  const table = path.reduce<z.ZodType | undefined>(
    (outer, key) => outer && shapeOf(outer)?.[String(key)],
    root,
  )
  return Object.keys((table && shapeOf(table)) ?? {})
}

const unwrap = (schema: z.ZodType): z.ZodType | undefined => {
  const { innerType, in: source } = definitionOf(schema)
  return innerType ?? source
}

function shapeOf(schema: z.ZodType): Record<string, z.ZodType> | undefined {
  for (let inner: z.ZodType | undefined = schema; inner; inner = unwrap(inner)) {
    const { shape } = definitionOf(inner)
    if (shape) return shape
  }
  return undefined
}
