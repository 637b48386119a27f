import type { Node } from 'web-tree-sitter'
import type { Budget } from './budget.ts'
import { type Binding, findBindings, nameOf, type Scope } from './scope.ts'

/** How many names may lead to one another before they are given up. */
const MAX_HOPS = 24
const BUILTINS = 'builtins'

/** An expression, and where and when it is evaluated. */
export interface Expression {
  node: Node
  scope: Scope
  /** Only what was bound before this place of the source counts. */
  at: number
  /** Names followed to get here. */
  hops: number
  budget: Budget
}

export const subexpression = (whole: Expression, node: Node): Expression => ({ ...whole, node })

/** The same expression without the brackets around it. */
export function withoutParentheses(expression: Expression): Expression {
  let { node } = expression
  while (node.type === 'parenthesized_expression' || node.type === 'type') {
    const inner = node.firstNamedChild
    if (!inner) break
    node = inner
  }
  return node === expression.node ? expression : { ...expression, node }
}

/** What a call calls; undefined for another expression. */
export function calleeOf(expression: Expression): Expression | undefined {
  const { node } = expression
  const callee = node.type === 'call' ? node.childForFieldName('function') : null
  return callee ? withoutParentheses(subexpression(expression, callee)) : undefined
}

/** What a bare name may stand for, latest first. */
export function bindingsOf({ node, scope, at, hops, budget }: Expression): Binding[] {
  budget.spend()
  return hops > MAX_HOPS ? [] : findBindings(scope, nameOf(node), at)
}

/** The expression behind a binding to a value. */
export function valueOfBinding(
  from: Expression,
  { value, scope, at }: Extract<Binding, { kind: 'value' }>,
): Expression {
  return withoutParentheses({ node: value, scope, at, hops: from.hops + 1, budget: from.budget })
}

/** Follows names of values as long as each stands for one value only. */
export function followNames(expression: Expression): Expression {
  let here = withoutParentheses(expression)
  while (here.node.type === 'identifier') {
    const [binding, ...others] = bindingsOf(here)
    if (binding?.kind !== 'value' || others.length > 0) break
    here = valueOfBinding(here, binding)
  }
  return here
}

/**
 * The dotted paths that a name or attribute may stand for: `windlass.workflow` for `w.workflow` after
 * `import windlass as w`. None for what the source makes itself.
 */
export function pathsOf(expression: Expression): string[] {
  const { node } = expression
  if (node.type === 'attribute') {
    const object = node.childForFieldName('object')
    const name = node.childForFieldName('attribute')
    if (!object || !name || expression.hops > MAX_HOPS) return []
    const within = {
      ...withoutParentheses(subexpression(expression, object)),
      hops: expression.hops + 1,
    }
    return pathsOf(within).map((path) => `${path}.${nameOf(name)}`)
  }
  if (node.type !== 'identifier') return []
  const bindings = bindingsOf(expression)
  if (bindings.length === 0) return unboundPaths(expression)
  return bindings.flatMap((binding) => {
    if (binding.kind === 'import') return [binding.path]
    return binding.kind === 'value' ? pathsOf(valueOfBinding(expression, binding)) : []
  })
}

/** The dotted paths of what a call may call; none for another expression. */
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
