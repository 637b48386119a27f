import { unprocessable } from '@windlass/runtime/faults'
import { z } from 'zod'
import { problemsOf } from './fields.ts'

type Shape = Record<string, z.ZodType>

/**
 * Creates a reader of the declared query parameters. Undeclared ones are ignored; a declared one
 * that occurs twice is refused as ambiguous.
 */
export function queryReader<S extends Shape>(
  shape: S,
): (search: string) => z.output<z.ZodObject<S>> {
  const schema = z.object(shape)
  // Most requests have no query; its defaults are computed once.
  const defaults = schema.safeParse({}).data
  const names = Object.keys(shape)
  return (search) => {
    if (defaults && (search === '' || names.length === 0)) return defaults
    const result = schema.safeParse(valuesOf(new URLSearchParams(search), names))
    if (!result.success) throw unprocessable(...problemsOf('query', result.error))
    return result.data
  }
}

function valuesOf(given: URLSearchParams, names: readonly string[]): Record<string, string> {
  const values: Record<string, string> = {}
  for (const name of names) {
    const [value, ...more] = given.getAll(name)
    if (more.length > 0)
      throw unprocessable({ loc: ['query', name], msg: 'given more than once', type: 'repeated' })
    if (value !== undefined) values[name] = value
  }
  return values
}
