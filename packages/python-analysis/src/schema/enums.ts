import { attributesOf, docstringOf } from '../python/class-body.ts'
import { constantOf } from '../python/constants.ts'
import { calledPaths, type Expression } from '../python/expression.ts'
import type { Definition } from '../python/scope.ts'
import type { Schema } from './known-types.ts'
import type { TypeContext } from './type-context.ts'

/** Returns the JSON values of an enumeration's members. */
export function enumSchema(definition: Definition, context: TypeContext): Schema {
  const values: unknown[] = []
  for (const { name, type, value } of attributesOf(definition)) {
    if (name.startsWith('_') || type || !value) continue
    const member = context.inClassBody(definition, value)
    const known = isAuto(member) ? autoValue(definition, name, values) : constantOf(member)
    if (known === undefined || (typeof known === 'object' && known !== null)) {
      context.note(definition.name, `the value of ${name} is not a constant`)
      return {}
    }
    values.push(known)
  }
  if (values.length === 0) return {}
  const description = docstringOf(definition)
  return {
    ...(description ? { description } : {}),
    enum: values,
    title: definition.name,
    ...typeOf(values),
  }
}

/** Returns the common JSON type of the values, if any. */
export function typeOf(values: unknown[]): Schema {
  if (values.every((value) => typeof value === 'string')) return { type: 'string' }
  if (values.every((value) => Number.isInteger(value))) return { type: 'integer' }
  if (values.every((value) => typeof value === 'boolean')) return { type: 'boolean' }
  return values.every((value) => typeof value === 'number') ? { type: 'number' } : {}
}

const isAuto = (value: Expression): boolean => calledPaths(value).includes('enum.auto')

/**
 * Returns the value of `auto()`: the next number or, in a StrEnum, the member's name in lower case.
 */
function autoValue(definition: Definition, name: string, before: unknown[]): string | number {
  const bases = definition.node.childForFieldName('superclasses')?.text ?? ''
  if (/\bStrEnum\b/.test(bases)) return name.toLowerCase()
  const numbers = before.filter((value) => typeof value === 'number')
  return numbers.length > 0 ? Math.max(...numbers) + 1 : 1
}
