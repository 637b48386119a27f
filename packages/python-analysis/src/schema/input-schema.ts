import type { Node } from 'web-tree-sitter'
import type { AnalysisContext } from '../analysis-context.ts'
import { hasUnguardedRecursion } from '../compatibility/unguarded-recursion.ts'
import { childOf, type Expression, unwrap } from '../python/expression.ts'
import { AT_END, type Definition } from '../python/scope.ts'
import { stringValue } from '../python/strings.ts'
import { isSdkName } from '../sdk-names.ts'
import type { Schema } from './known-types.ts'
import { subscriptOf } from './type-expression.ts'
import { TypeReader } from './type-reader.ts'

export interface InputSchema {
  /** Absent if any input is valid. */
  schema?: Schema
  notes: string[]
}

/** Returns the schema of a workflow's input, T in `ctx: ExecutionContext[T]`. */
export function readInputSchema(definition: Definition, context: AnalysisContext): InputSchema {
  const type = findContextAnnotation(definition)
  const nothing = { notes: [] }
  if (!type) return nothing
  const { budget, sdkModules, parse } = context
  const annotation = unquote(
    { node: type, scope: definition.scope, at: AT_END, hops: 0, budget },
    parse,
  )
  const subscript = annotation && subscriptOf(annotation)
  const [input] = subscript?.args ?? []
  if (!subscript || !input || !isSdkName(subscript.base, 'ExecutionContext', sdkModules))
    return nothing
  const { schema, notes } = new TypeReader(budget, parse).schemaOf(input)
  if (hasUnguardedRecursion(schema)) return { notes: [...notes, 'input: it refers only to itself'] }
  return Object.keys(schema).length > 0 ? { schema, notes } : { notes }
}

/** Returns the annotation of the parameter `ctx`, else of the first annotated one. */
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

function unquote(type: Expression, parse: AnalysisContext['parse']): Expression | undefined {
  const here = unwrap(type)
  if (here.node.type !== 'string') return here
  const node = parse(stringValue(here.node) ?? '')
  return node && unwrap(childOf(here, node))
}
