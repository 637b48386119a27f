import type { Node } from 'web-tree-sitter'
import { hasUnguardedRecursion } from '../compatibility/unguarded-recursion.ts'
import type { Budget } from '../python/budget.ts'
import { type Expression, subexpression, withoutParentheses } from '../python/expression.ts'
import { type Definition, END_OF_SOURCE } from '../python/scope.ts'
import { stringValue } from '../python/strings.ts'
import { isSdkName } from '../sdk-names.ts'
import type { Schema } from './known-types.ts'
import { subscriptOf } from './type-expression.ts'
import { TypeReader } from './type-reader.ts'

export interface SchemaReading {
  budget: Budget
  sdkModules: string[]
  /** The tree of one expression, for types that stand in quotes. */
  parse(expression: string): Node | undefined
}

export interface InputSchema {
  /** Absent where any input will do. */
  schema?: Schema
  notes: string[]
}

/** What a workflow's input must be, from `ctx: ExecutionContext[T]`. */
export function readInputSchema(definition: Definition, reading: SchemaReading): InputSchema {
  const type = findContextAnnotation(definition)
  const nothing = { notes: [] }
  if (!type) return nothing
  const { budget, sdkModules, parse } = reading
  const annotation = unquote(
    { node: type, scope: definition.scope, at: END_OF_SOURCE, hops: 0, budget },
    parse,
  )
  const subscript = annotation && subscriptOf(annotation)
  const [input] = subscript?.args ?? []
  if (!subscript || !input || !isSdkName(subscript.base, 'ExecutionContext', sdkModules))
    return nothing
  const { schema, notes } = new TypeReader(budget, parse).schemaOf(input)
  if (hasUnguardedRecursion(schema))
    return { notes: [...notes, 'input: it is defined by itself alone'] }
  return Object.keys(schema).length > 0 ? { schema, notes } : { notes }
}

/** The annotation of the parameter `ctx`, else of the first that has one. */
function findContextAnnotation({ node }: Definition): Node | undefined {
  const annotated = (node.childForFieldName('parameters')?.namedChildren ?? []).flatMap(
    (parameter) => {
      const type = parameter.childForFieldName('type')
      const name = parameter.childForFieldName('name') ?? parameter.firstNamedChild
      return type && name ? [{ name: name.text, type }] : []
    },
  )
  return (annotated.find(({ name }) => name === 'ctx') ?? annotated[0])?.type
}

function unquote(type: Expression, parse: SchemaReading['parse']): Expression | undefined {
  const here = withoutParentheses(type)
  if (here.node.type !== 'string') return here
  const node = parse(stringValue(here.node) ?? '')
  return node && withoutParentheses(subexpression(here, node))
}
