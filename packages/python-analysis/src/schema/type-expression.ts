import type { Node } from 'web-tree-sitter'
import { bindingsOf, childOf, type Expression, unwrap } from '../python/expression.ts'
import { AT_END, type Definition, findBindings, nameOf } from '../python/scope.ts'

/** `list[int]`: base and arguments of a subscript. */
export interface Subscript {
  base: Expression
  args: Expression[]
}

/** Splits a subscripted type; undefined for other expressions. */
export function subscriptOf(expression: Expression): Subscript | undefined {
  const { node } = expression
  const here = (part_: Node) => unwrap(childOf(expression, part_))
  if (node.type === 'generic_type') {
    const [base, parameters] = node.namedChildren
    if (!base) return undefined
    return { base: here(base), args: withoutComments(parameters).map(here) }
  }
  const base = node.type === 'subscript' ? node.childForFieldName('value') : null
  if (!base) return undefined
  const args = node.childrenForFieldName('subscript').map(here)
  const [only] = args
  const tuple = args.length === 1 && only?.node.type === 'tuple' ? only.node : undefined
  return { base: here(base), args: tuple ? withoutComments(tuple).map(here) : args }
}

const withoutComments = (node: Node | undefined): Node[] =>
  node?.namedChildren.filter(({ type }) => type !== 'comment') ?? []

/** Returns the alternatives of `A | B | C`, without recursion. */
export function alternativesOf(expression: Expression): Expression[] {
  const found: Expression[] = []
  const waiting = [unwrap(expression)]
  for (let here = waiting.pop(); here; here = waiting.pop()) {
    const whole = here
    if (isUnion(whole.node)) {
      const sides = withoutComments(whole.node).map((side) => unwrap(childOf(whole, side)))
      waiting.push(...sides.reverse())
    } else found.push(whole)
  }
  return found
}

/**
 * True for a union. The grammar has a separate node for one that begins with a generic type:
 * `list[int] | None`.
 */
export const isUnion = (node: Node): boolean =>
  node.type === 'union_type' ||
  (node.type === 'binary_operator' && node.childForFieldName('operator')?.text === '|')

/** Returns the class of the source that a type names: `Order`, `Order.Line`. */
export function classOf(expression: Expression): Definition | undefined {
  const { node } = expression
  if (node.type === 'identifier') return classIn(bindingsOf(expression)[0])
  const object = node.type === 'attribute' ? node.childForFieldName('object') : null
  const name = node.childForFieldName('attribute')
  const owner = object ? classOf(childOf(expression, object)) : undefined
  return owner && name ? classIn(findBindings(owner.body, nameOf(name), AT_END)[0]) : undefined
}

function classIn(binding: ReturnType<typeof bindingsOf>[number] | undefined) {
  const definition = binding?.kind === 'definition' ? binding.definition : undefined
  return definition?.kind === 'class' ? definition : undefined
}
