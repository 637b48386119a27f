import type { Schema } from '../schema/known-types.ts'
import { listOf, objectOf, resolveRef, type Subschema } from './subschemas.ts'

/**
 * True if an alternative refers back to itself with no list or object in between: such a schema has
 * no finite meaning, and validators do not terminate on it.
 */
export function hasUnguardedRecursion(root: Schema): boolean {
  const done = new Set<Subschema>()
  const visit = (part: Subschema, above: Subschema[]): boolean => {
    const here = resolveRef(part, root)
    if (typeof here !== 'object' || done.has(here)) return false
    if (above.includes(here)) return true
    const endless = listOf(here.anyOf).some((one) => visit(one, [...above, here]))
    done.add(here)
    return endless
  }
  return [root, ...Object.values(objectOf(root.$defs))].some((part) => visit(part, []))
}
