import type { Node } from 'web-tree-sitter'
import type { Budget } from './budget.ts'
import { type Binding, findBindings, nameOf, type Scope } from './scope.ts'

/** Limit on the chain of names that lead to one another. */
const MAX_HOPS = 24
const BUILTINS = 'builtins'

/** Expression with the scope and the position at which it is evaluated. */
export interface Expression {
  node: Node
  scope: Scope
  /** Only bindings before this position count. */
  at: number
  /** Names followed so far. */
  hops: number
  budget: Budget
}

export const childOf = (whole: Expression, node: Node): Expression => ({ ...whole, node })

/** Removes surrounding parentheses. */
export function unwrap(expression: Expression): Expression {
  let { node } = expression
  while (node.type === 'parenthesized_expression' || node.type === 'type') {
    const inner = node.firstNamedChild
    if (!inner) break
    node = inner
  }
  return node === expression.node ? expression : { ...expression, node }
}

/** Returns the callee of a call; undefined for other expressions. */
export function calleeOf(expression: Expression): Expression | undefined {
  const { node } = expression
  const callee = node.type === 'call' ? node.childForFieldName('function') : null
  return callee ? unwrap(childOf(expression, callee)) : undefined
}

/** Returns the possible bindings of a bare name, latest first. */
export function bindingsOf({ node, scope, at, hops, budget }: Expression): Binding[] {
  budget.spend()
  return hops > MAX_HOPS ? [] : findBindings(scope, nameOf(node), at)
}

/** Returns the expression that a name is bound to. */
export function boundValue(
  from: Expression,
  { value, scope, at }: Extract<Binding, { kind: 'value' }>,
): Expression {
  return unwrap({ node: value, scope, at, hops: from.hops + 1, budget: from.budget })
}

/** Follows names to their values while each has exactly one value. */
export function followNames(expression: Expression): Expression {
  let here = unwrap(expression)
  while (here.node.type === 'identifier') {
    const [binding, ...others] = bindingsOf(here)
    if (binding?.kind !== 'value' || others.length > 0) break
    here = boundValue(here, binding)
  }
  return here
}

/**
 * Returns the dotted paths that a name or attribute may stand for: `windlass.workflow` for
 * `w.workflow` after `import windlass as w`. Empty for values made by the source itself.
 */
export function pathsOf(expression: Expression): string[] {
  const { node } = expression
  if (node.type === 'attribute') {
    const object = node.childForFieldName('object')
    const name = node.childForFieldName('attribute')
    if (!object || !name || expression.hops > MAX_HOPS) return []
    const within = {
      ...unwrap(childOf(expression, object)),
      hops: expression.hops + 1,
    }
    return pathsOf(within).map((path) => `${path}.${nameOf(name)}`)
  }
  if (node.type !== 'identifier') return []
  const bindings = bindingsOf(expression)
  if (bindings.length === 0) return unboundPaths(expression)
  return bindings.flatMap((binding) => {
    if (binding.kind === 'import') return [binding.path]
    return binding.kind === 'value' ? pathsOf(boundValue(expression, binding)) : []
  })
}

/** Returns the dotted paths of a call's callee; empty for other expressions. */
export function calledPaths(expression: Expression): string[] {
  const callee = calleeOf(expression)
  return callee ? pathsOf(callee) : []
}

function unboundPaths({ node, scope }: Expression): string[] {
  const name = nameOf(node)
  const paths = [`${BUILTINS}.${name}`]
  for (let here: Scope | undefined = scope; here; here = here.outer) {
    paths.push(...here.starImports.map((module) => `${module}.${name}`))
  }
  return paths
}
