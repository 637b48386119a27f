import type { Node } from 'web-tree-sitter'
import { bare, bindingsOf, boundValue, type Expression, part, pathsOf } from './expression.ts'
import { arithmetic, numberOf } from './numbers.ts'
import { AFTER_ALL, type Binding, candidatesOf, nameOf } from './scope.ts'
import { textOf } from './strings.ts'

/** A value known without running the source. Lists, tuples and sets are arrays. */
export type Constant = null | boolean | number | string | Constant[] | Map<Constant, Constant>

const MAX_DEPTH = 64
const MAX_TEXT_CHARS = 65_536

/** Thrown inside this file alone. */
const UNKNOWN = new Error('not a constant')

/** The value of an expression of literals and names of such, or undefined when it takes running to know. */
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
  const here = bare(expression)
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
  string: ({ node }) => textOf(node),
  concatenated_string: ({ node }) => withoutComments(node).map(textOf).map(known).join(''),
  unary_operator: unary,
  not_operator: (expression, depth) => {
    const value = evaluate(field(expression, 'argument'), depth)
    return typeof value === 'boolean' ? !value : undefined
  },
  binary_operator: binary,
  list: elements,
  tuple: elements,
  set: elements,
  expression_list: elements,
  dictionary,
  identifier: (expression, depth) =>
    evaluate(boundValue(expression, onlyValue(bindingsOf(expression))), depth),
  attribute: ofClass,
  call: converted,
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw UNKNOWN
  return value
}

/** A child that the grammar promises. */
const field = (expression: Expression, name: string): Expression =>
  part(expression, known(expression.node.childForFieldName(name) ?? undefined))

const withoutComments = (node: Node): Node[] =>
  node.namedChildren.filter(({ type }) => type !== 'comment')

function onlyValue(bindings: Binding[]): Extract<Binding, { kind: 'value' }> {
  const [binding, ...others] = bindings
  if (binding?.kind !== 'value' || others.length > 0) throw UNKNOWN
  return binding
}

function unary(expression: Expression, depth: number): Constant | undefined {
  const value = evaluate(field(expression, 'argument'), depth)
  if (typeof value !== 'number') return undefined
  const operator = expression.node.childForFieldName('operator')?.text
  if (operator === '-') return -value
  return operator === '+' ? value : undefined
}

function binary(expression: Expression, depth: number): Constant | undefined {
  const operator = field(expression, 'operator').node.text
  const left = evaluate(field(expression, 'left'), depth)
  const right = evaluate(field(expression, 'right'), depth)
  if (typeof left === 'number' && typeof right === 'number') {
    return arithmetic(operator, left, right)
  }
  if (operator === '|') return merged(left, right)
  return operator === '+' ? concatenated(expression, left, right) : undefined
}

const merged = (left: Constant, right: Constant) =>
  left instanceof Map && right instanceof Map ? new Map([...left, ...right]) : undefined

function concatenated(expression: Expression, left: Constant, right: Constant) {
  if (typeof left === 'string' && typeof right === 'string') {
    return left.length + right.length <= MAX_TEXT_CHARS ? left + right : undefined
  }
  if (!Array.isArray(left) || !Array.isArray(right)) return undefined
  expression.budget.spend(left.length + right.length)
  return left.concat(right)
}

function elements(expression: Expression, depth: number): Constant {
  return withoutComments(expression.node).flatMap((child) => {
    if (child.type !== 'list_splat') return [evaluate(part(expression, child), depth)]
    return list(expression, evaluate(first(expression, child), depth))
  })
}

const first = (expression: Expression, node: Node): Expression =>
  part(expression, known(node.firstNamedChild ?? undefined))

function list(expression: Expression, value: Constant): Constant[] {
  if (!Array.isArray(value)) throw UNKNOWN
  expression.budget.spend(value.length)
  return value
}

function dictionary(expression: Expression, depth: number): Constant {
  const entries = withoutComments(expression.node).flatMap((child): [Constant, Constant][] => {
    if (child.type === 'pair') return [entry(part(expression, child), depth)]
    const splat = evaluate(first(expression, child), depth)
    if (!(splat instanceof Map)) throw UNKNOWN
    expression.budget.spend(splat.size)
    return [...splat]
  })
  return new Map(entries)
}

function entry(pair: Expression, depth: number): [Constant, Constant] {
  const key = evaluate(field(pair, 'key'), depth)
  if (typeof key === 'object' && key !== null) throw UNKNOWN
  return [key, evaluate(field(pair, 'value'), depth)]
}

/** `Settings.REGION`, of a class in the same source. */
function ofClass(expression: Expression, depth: number): Constant {
  const object = bare(field(expression, 'object'))
  const [owner, ...others] = object.node.type === 'identifier' ? bindingsOf(object) : []
  if (owner?.kind !== 'definition' || others.length > 0) throw UNKNOWN
  const { body } = owner.definition
  const name = nameOf(field(expression, 'attribute').node)
  const binding = onlyValue(candidatesOf(body, name, AFTER_ALL))
  if (binding.scope !== body) throw UNKNOWN
  return evaluate(boundValue(expression, binding), depth)
}

const CONVERSIONS = new Set(['list', 'tuple', 'set', 'frozenset'].map((name) => `builtins.${name}`))

/** `dict(region="eu")`, `frozenset([…])`. */
function converted(expression: Expression, depth: number): Constant | undefined {
  const paths = pathsOf(field(expression, 'function'))
  const given = withoutComments(field(expression, 'arguments').node)
  if (paths.includes('builtins.dict')) {
    return new Map(given.map((pair) => keyword(expression, pair, depth)))
  }
  if (!paths.some((path) => CONVERSIONS.has(path)) || given.length > 1) return undefined
  const [only] = given
  return only ? list(expression, evaluate(part(expression, only), depth)) : []
}

function keyword(expression: Expression, argument: Node, depth: number): [string, Constant] {
  const pair = part(expression, argument)
  return [nameOf(field(pair, 'name').node), evaluate(field(pair, 'value'), depth)]
}
