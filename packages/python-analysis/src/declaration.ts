import type { AnalysisContext } from './analysis-context.ts'
import { type Arguments, argumentsOf, noArguments } from './python/arguments.ts'
import { calleeOf, type Expression, followNames } from './python/expression.ts'
import type { Definition } from './python/scope.ts'
import { isSdkName } from './sdk-names.ts'

export type DeclarationKind = 'workflow' | 'task'

/**
 * Function or class that an SDK decorator marks as workflow or task, with the decorator's options.
 */
export interface Declaration {
  kind: DeclarationKind
  definition: Definition
  options: Arguments
}

/** Returns the declaration that a definition's decorators make. The first SDK decorator counts. */
export function findDeclaration(
  definition: Definition,
  { budget, sdkModules }: AnalysisContext,
): Declaration | undefined {
  for (const decorator of definition.decorators) {
    const node = decorator.firstNamedChild
    if (!node) continue
    const at = decorator.startIndex
    const mark = { node, scope: definition.scope, at, hops: 0, budget }
    const found = readDecorator(mark, sdkModules)
    if (found) return { definition, ...found }
  }
  return undefined
}

function readDecorator(
  mark: Expression,
  sdkModules: string[],
): { kind: DeclarationKind; options: Arguments } | undefined {
  const expression = followNames(mark)
  const called = calleeOf(expression)
  const decorator = called ?? expression
  const kinds: DeclarationKind[] = ['workflow', 'task']
  const kind = kinds.find(
    (kind) =>
      isSdkName(decorator, kind, sdkModules) ||
      (called && isSdkName(decorator, `${kind}.with_options`, sdkModules)),
  )
  return kind && { kind, options: called ? argumentsOf(expression) : noArguments() }
}
