import type {
  CompileContext,
  CompileScope,
  Comprehension,
  ComprehensionForm,
  NamedValue,
} from './compile-scope.ts'
import type { RuleHandlers, Visit } from './rule-walk.ts'
import { boundNames } from './targets.ts'

/**
 * Scopes of comprehensions, and assignment expressions in them. The element comes first in the source, so
 * most rules are checked at the end of the comprehension.
 */
export function comprehensionRules(context: CompileContext): RuleHandlers {
  const { scopes } = context
  /** Number of comprehension iterables around the current node. */
  let iterables = 0
  const enter =
    (form: ComprehensionForm) =>
    ({ at }: Visit) => {
      const comprehension = {
        form,
        at,
        clausesAt: at,
        clauses: 0,
        isAsync: false,
        targets: new Map<string, number>(),
        named: [],
      }
      scopes.enter('comprehension', { comprehension })
    }
  const leave = () => checkComprehension(context, scopes.leave())
  return {
    enter: {
      list_comprehension: enter('list comprehension'),
      set_comprehension: enter('set comprehension'),
      dictionary_comprehension: enter('dict comprehension'),
      generator_expression: enter('generator expression'),
      for_in_clause: (visit) => enterClause(context, visit),
      'for_in_clause.right': () => {
        iterables++
        if (scopes.current.comprehension?.clauses === 1) scopes.enterOuter()
        else scopes.enterCurrent()
      },
      named_expression: (visit) => {
        if (iterables > 0) {
          const reason =
            'assignment expression cannot be used in a comprehension iterable expression'
          context.refuse(visit.at, reason)
        }
        checkNamedExpression(context, visit)
      },
    },
    leave: {
      list_comprehension: leave,
      set_comprehension: leave,
      dictionary_comprehension: leave,
      generator_expression: leave,
      'for_in_clause.right': () => {
        iterables--
        scopes.leave()
      },
    },
  }
}

function enterClause({ scopes, source }: CompileContext, { at, node }: Visit): void {
  const { comprehension } = scopes.current
  const left = node.childForFieldName('left')
  if (!comprehension || !left) return
  if (comprehension.clauses === 0) comprehension.clausesAt = at
  comprehension.clauses++
  if (source.startsWith('async', at)) comprehension.isAsync = true
  for (const [name, position] of boundNames(left)) comprehension.targets.set(name, position)
}

/** The name of an assignment expression belongs to the scope around all comprehensions. */
function checkNamedExpression({ scopes, refuse }: CompileContext, { at, node }: Visit): void {
  const name = (node.childForFieldName('name')?.text ?? '').normalize('NFKC')
  let scope: CompileScope | undefined = scopes.current
  if (scope.kind === 'restricted')
    refuse(at, `named expression cannot be used within ${scope.place}`)
  if (scope.kind !== 'comprehension') return
  // CPython compares private names of classes in two forms, and so misses the conflict.
  const isPrivate = name.startsWith('__') && !name.endsWith('__')
  while (scope?.comprehension) {
    if (!isPrivate) scope.comprehension.named.push({ name, at })
    scope = scope.outer
  }
  const within = 'assignment expression within a comprehension cannot be used'
  if (scope?.kind === 'class') refuse(at, `${within} in a class body`)
  if (scope?.kind === 'restricted') refuse(at, `${within} within ${scope.place}`)
}

function checkComprehension(context: CompileContext, { comprehension, outer }: CompileScope): void {
  if (!comprehension || !outer) return
  for (const named of comprehension.named) checkTarget(context, comprehension, named)
  const { form, at, isAsync } = comprehension
  if (!isAsync || form === 'generator expression') return
  if (outer.comprehension) outer.comprehension.isAsync = true
  else if (outer.kind !== 'async_function' && outer.kind !== 'unevaluated')
    context.refuse(at, 'asynchronous comprehension outside of an asynchronous function')
}

function checkTarget(
  { refuse }: CompileContext,
  { clausesAt, targets }: Comprehension,
  { name, at }: NamedValue,
): void {
  const target = targets.get(name)
  if (target === undefined) return
  if (at > clausesAt && at < target)
    refuse(target, `comprehension inner loop cannot rebind assignment expression target '${name}'`)
  refuse(at, `assignment expression cannot rebind comprehension iteration variable '${name}'`)
}
