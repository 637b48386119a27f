import type { Node } from 'web-tree-sitter'
import { nameOf } from '../python/scope.ts'

/** Returns the named children of a node without comments and backslashes at line ends. */
export const partsOf = (node: Node): Node[] =>
  node.namedChildren.filter(({ type }) => type !== 'comment' && type !== 'line_continuation')

const PATTERNS = new Set(
  'pattern_list tuple_pattern list_pattern list_splat_pattern dictionary_splat_pattern'.split(' '),
)

/** Returns the names that an assignment target binds, with their positions. */
export function boundNames(target: Node): [name: string, at: number][] {
  if (target.type === 'identifier') return [[nameOf(target), target.startIndex]]
  return PATTERNS.has(target.type) ? partsOf(target).flatMap(boundNames) : []
}

/** True for a handler `except*`. */
export const isExceptGroup = (handler: Node): boolean => handler.child(1)?.type === '*'

/** True for `(a)`, which the grammar takes for a tuple of one target. */
export function isParenthesized(pattern: Node): boolean {
  if (!/^tuple/.test(pattern.type)) return false
  const [inner, second] = partsOf(pattern)
  return !!inner && !second && !pattern.children.some(({ type }) => type === ',')
}
