import type { CompileContext, CompileScope } from './compile-scope.ts'
import { isTypeAlias } from './parameter-rules.ts'
import type { RuleHandlers, Visit } from './rule-walk.ts'
import { isExceptGroup } from './targets.ts'

const GENERIC = 'the definition of a generic'

/** Enters and leaves the scopes of definitions, lambdas, annotations and type parameters. */
export function scopeRules(context: CompileContext): RuleHandlers {
  const { scopes, source } = context
  // Nothing between a definition and its body contains another definition.
  let isAsync = false
  let isGeneric = false
  let isAlias = false
  const leave = () => {
    scopes.leave()
  }
  const leaveFunction = () => checkAsyncGenerator(scopes.leave(), context)
  const enterRestricted = (place: string | false) => {
    if (place) scopes.enter('restricted', { place })
    else scopes.enterCurrent()
  }
  const enterAnnotation = () =>
    enterRestricted(isGeneric ? GENERIC : context.defersAnnotations && 'an annotation')
  const enterVariableAnnotation = () => {
    if (/function$/.test(scopes.current.kind)) scopes.enter('unevaluated')
    else enterRestricted(context.defersAnnotations && 'an annotation')
  }
  const enterTypeParameters = () => {
    isGeneric = true
    enterRestricted('a type parameter')
  }
  return {
    enter: {
      function_definition: ({ at }) => {
        isAsync = source.startsWith('async', at)
        isGeneric = false
      },
      class_definition: () => {
        isGeneric = false
      },
      'function_definition.type_parameters': enterTypeParameters,
      'class_definition.type_parameters': enterTypeParameters,
      'class_definition.superclasses': () => enterRestricted(isGeneric && GENERIC),
      'function_definition.return_type': enterAnnotation,
      'typed_parameter.type': enterAnnotation,
      'typed_default_parameter.type': enterAnnotation,
      'assignment.type': enterVariableAnnotation,
      'type_alias_statement.left': ({ at }) => {
        isAlias = isTypeAlias(source, at)
        enterRestricted(isAlias && 'a type parameter')
      },
      'type_alias_statement.right': () => enterRestricted(isAlias && 'a type alias'),
      'function_definition.body': () => scopes.enter(isAsync ? 'async_function' : 'function'),
      'class_definition.body': () => scopes.enter('class'),
      'lambda.body': () => scopes.enter('lambda'),
    },
    leave: {
      'function_definition.type_parameters': leave,
      'class_definition.type_parameters': leave,
      'class_definition.superclasses': leave,
      'function_definition.return_type': leave,
      'typed_parameter.type': leave,
      'typed_default_parameter.type': leave,
      'assignment.type': leave,
      'type_alias_statement.left': leave,
      'type_alias_statement.right': leave,
      'function_definition.body': leaveFunction,
      'class_definition.body': leave,
      'lambda.body': leave,
    },
  }
}

function checkAsyncGenerator(scope: CompileScope, context: CompileContext): void {
  const { kind, yields, returnedAt } = scope
  if (kind === 'async_function' && yields && returnedAt !== undefined)
    context.refuse(returnedAt, "'return' with value in async generator")
}

/** Statements and expressions that are allowed only in a function, a loop or the module. */
export function placementRules(context: CompileContext): RuleHandlers {
  const { scopes, source } = context
  const enterLoop = () => {
    scopes.current.blocks.push('loop')
  }
  const leaveBlock = () => {
    scopes.current.blocks.pop()
  }
  return {
    enter: {
      'for_statement.body': enterLoop,
      'while_statement.body': enterLoop,
      for_statement: ({ at }) => {
        if (source.startsWith('async', at)) requireAsyncFunction(context, at, 'async for')
      },
      with_statement: ({ at }) => {
        if (source.startsWith('async', at)) requireAsyncFunction(context, at, 'async with')
      },
      except_clause: ({ node }) => {
        scopes.current.blocks.push(isExceptGroup(node) ? 'except_group' : 'plain')
      },
      break_statement: ({ at }) => checkJump(context, at, "'break' outside loop"),
      continue_statement: ({ at }) => checkJump(context, at, "'continue' not properly in loop"),
      return_statement: (visit) => checkReturn(context, visit),
      yield: ({ at }) => checkYield(context, at),
      await: ({ at }) => checkAwait(context, at),
      wildcard_import: ({ at }) => {
        if (scopes.current.kind !== 'module')
          context.refuse(at, 'import * only allowed at module level')
      },
    },
    leave: {
      'for_statement.body': leaveBlock,
      'while_statement.body': leaveBlock,
      except_clause: leaveBlock,
    },
  }
}

const IN_EXCEPT_GROUP = "'break', 'continue' and 'return' cannot appear in an except* block"

/** Checks a `break` or `continue`: its loop must be inside of any handler of `except*`. */
function checkJump({ scopes, refuse }: CompileContext, at: number, outsideLoop: string): void {
  const innermost = scopes.current.blocks.findLast((block) => block !== 'plain')
  if (innermost === 'except_group') refuse(at, IN_EXCEPT_GROUP)
  if (!innermost) refuse(at, outsideLoop)
}

function checkReturn({ scopes, refuse }: CompileContext, visit: Visit): void {
  const { kind, blocks } = scopes.current
  if (kind !== 'function' && kind !== 'async_function')
    refuse(visit.at, "'return' outside function")
  if (blocks.includes('except_group')) refuse(visit.at, IN_EXCEPT_GROUP)
  if (kind === 'async_function' && visit.node.namedChildCount > 0)
    scopes.current.returnedAt ??= visit.at
}

function checkYield({ scopes, source, refuse }: CompileContext, at: number): void {
  const { kind, comprehension, place } = scopes.current
  if (kind === 'comprehension') refuse(at, `'yield' inside ${comprehension?.form}`)
  if (kind === 'restricted') refuse(at, `yield expression cannot be used within ${place}`)
  if (kind === 'module' || kind === 'class') refuse(at, "'yield' outside function")
  if (kind === 'async_function' && /^yield\s+from\b/.test(source.slice(at, at + 100)))
    refuse(at, "'yield from' inside async function")
  scopes.current.yields = true
}

function checkAwait({ scopes, refuse }: CompileContext, at: number): void {
  const { kind, comprehension, place } = scopes.current
  if (comprehension) comprehension.isAsync = true
  if (kind === 'restricted') refuse(at, `await expression cannot be used within ${place}`)
  if (kind === 'module' || kind === 'class') refuse(at, "'await' outside function")
  if (kind === 'function' || kind === 'lambda') refuse(at, "'await' outside async function")
}

function requireAsyncFunction({ scopes, refuse }: CompileContext, at: number, what: string): void {
  if (scopes.current.kind !== 'async_function') refuse(at, `'${what}' outside async function`)
}
