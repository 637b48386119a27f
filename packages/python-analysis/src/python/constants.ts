import type { Node } from 'web-tree-sitter'
import { bindingsOf, boundValue, childOf, type Expression, pathsOf, unwrap } from './expression.ts'
import { calculate, numberOf } from './numbers.ts'
import { AT_END, type Binding, findBindings, nameOf } from './scope.ts'
import { stringValue } from './strings.ts'

/** Value known without running the source. Lists, tuples and sets are arrays. */
export type Constant = null | boolean | number | string | Constant[] | Map<Constant, Constant>

const MAX_DEPTH = 64
const MAX_TEXT_CHARS = 65_536

/** Thrown and caught in this file only. */
const UNKNOWN = new Error('not a constant')

/**
 * Evaluates literals, names of literals and arithmetic on them. Returns undefined for everything
 * that takes running the source.
 */
export function constantOf(expression: Expression): Constant | undefined {
  try {
    return evaluate(expression, 0)
  } catch (error) {
    if (error === UNKNOWN) return undefined
    throw error
  }
}

function evaluate(expression: Expression, depth: number): Constant {
  expression.budget.spend()
  const here = unwrap(expression)
  const evaluator = depth > MAX_DEPTH ? undefined : evaluators[here.node.type]
  return known(evaluator?.(here, depth + 1))
}

type Evaluate = (expression: Expression, depth: number) => Constant | undefined

const evaluators: Record<string, Evaluate> = {
  none: () => null,
  true: () => true,
  false: () => false,
  integer: ({ node }) => numberOf(node.text),
  float: ({ node }) => numberOf(node.text),
  string: ({ node }) => stringValue(node),
  concatenated_string: ({ node }) => withoutComments(node).map(stringValue).map(known).join(''),
  unary_operator: evaluateUnary,
  not_operator: (expression, depth) => {
    const value = evaluate(childField(expression, 'argument'), depth)
    return typeof value === 'boolean' ? !value : undefined
  },
  binary_operator: evaluateBinary,
  list: evaluateElements,
  tuple: evaluateElements,
  set: evaluateElements,
  expression_list: evaluateElements,
  dictionary: evaluateDictionary,
  identifier: (expression, depth) =>
    evaluate(boundValue(expression, onlyValue(bindingsOf(expression))), depth),
  attribute: evaluateClassAttribute,
  call: evaluateConversion,
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw UNKNOWN
  return value
}

/** Returns a child that the grammar guarantees. */
const childField = (expression: Expression, name: string): Expression =>
  childOf(expression, known(expression.node.childForFieldName(name) ?? undefined))

const withoutComments = (node: Node): Node[] =>
  node.namedChildren.filter(({ type }) => type !== 'comment')

function onlyValue(bindings: Binding[]): Extract<Binding, { kind: 'value' }> {
  const [binding, ...others] = bindings
  if (binding?.kind !== 'value' || others.length > 0) throw UNKNOWN
  return binding
}

function evaluateUnary(expression: Expression, depth: number): Constant | undefined {
  const value = evaluate(childField(expression, 'argument'), depth)
  if (typeof value !== 'number') return undefined
  const operator = expression.node.childForFieldName('operator')?.text
  if (operator === '-') return -value
  return operator === '+' ? value : undefined
}

function evaluateBinary(expression: Expression, depth: number): Constant | undefined {
  const operator = childField(expression, 'operator').node.text
  const left = evaluate(childField(expression, 'left'), depth)
  const right = evaluate(childField(expression, 'right'), depth)
  if (typeof left === 'number' && typeof right === 'number') {
    return calculate(operator, left, right)
  }
  if (operator === '|') return merge(left, right)
  return operator === '+' ? concatenate(expression, left, right) : undefined
}

const merge = (left: Constant, right: Constant) =>
  left instanceof Map && right instanceof Map ? new Map([...left, ...right]) : undefined

function concatenate(expression: Expression, left: Constant, right: Constant) {
  if (typeof left === 'string' && typeof right === 'string') {
    return left.length + right.length <= MAX_TEXT_CHARS ? left + right : undefined
  }
  if (!Array.isArray(left) || !Array.isArray(right)) return undefined
  expression.budget.spend(left.length + right.length)
  return left.concat(right)
}

function evaluateElements(expression: Expression, depth: number): Constant {
  return withoutComments(expression.node).flatMap((child) => {
    if (child.type !== 'list_splat') return [evaluate(childOf(expression, child), depth)]
    return requireList(expression, evaluate(firstChild(expression, child), depth))
  })
}

const firstChild = (expression: Expression, node: Node): Expression =>
  childOf(expression, known(node.firstNamedChild ?? undefined))

function requireList(expression: Expression, value: Constant): Constant[] {
  if (!Array.isArray(value)) throw UNKNOWN
  expression.budget.spend(value.length)
  return value
}

function evaluateDictionary(expression: Expression, depth: number): Constant {
  const entries = withoutComments(expression.node).flatMap((child): [Constant, Constant][] => {
    if (child.type === 'pair') return [evaluatePair(childOf(expression, child), depth)]
    const splat = evaluate(firstChild(expression, child), depth)
    if (!(splat instanceof Map)) throw UNKNOWN
    expression.budget.spend(splat.size)
    return [...splat]
  })
  return new Map(entries)
}

function evaluatePair(pair: Expression, depth: number): [Constant, Constant] {
  const key = evaluate(childField(pair, 'key'), depth)
  if (typeof key === 'object' && key !== null) throw UNKNOWN
  return [key, evaluate(childField(pair, 'value'), depth)]
}

/** Evaluates `Settings.REGION` for a class in the same source. */
function evaluateClassAttribute(expression: Expression, depth: number): Constant {
  const object = unwrap(childField(expression, 'object'))
  const [owner, ...others] = object.node.type === 'identifier' ? bindingsOf(object) : []
  if (owner?.kind !== 'definition' || others.length > 0) throw UNKNOWN
  const { body } = owner.definition
  const name = nameOf(childField(expression, 'attribute').node)
  const binding = onlyValue(findBindings(body, name, AT_END))
  if (binding.scope !== body) throw UNKNOWN
  return evaluate(boundValue(expression, binding), depth)
}

const CONVERSIONS = new Set(['list', 'tuple', 'set', 'frozenset'].map((name) => `builtins.${name}`))

/** Evaluates `dict(region="eu")`, `frozenset([…])`. */
function evaluateConversion(expression: Expression, depth: number): Constant | undefined {
  const paths = pathsOf(childField(expression, 'function'))
  const given = withoutComments(childField(expression, 'arguments').node)
  if (paths.includes('builtins.dict')) {
    return new Map(given.map((pair) => evaluateKeyword(expression, pair, depth)))
  }
  if (!paths.some((path) => CONVERSIONS.has(path)) || given.length > 1) return undefined
  const [only] = given
  return only ? requireList(expression, evaluate(childOf(expression, only), depth)) : []
}

function evaluateKeyword(
  expression: Expression,
  argument: Node,
  depth: number,
): [string, Constant] {
  const pair = childOf(expression, argument)
  return [nameOf(childField(pair, 'name').node), evaluate(childField(pair, 'value'), depth)]
}
