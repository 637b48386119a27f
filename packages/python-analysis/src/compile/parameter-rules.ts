import type { Node } from 'web-tree-sitter'
import { syntaxFault } from '../python/syntax-fault.ts'
import type { CompileContext } from './compile-scope.ts'
import type { RuleHandlers, Visit } from './rule-walk.ts'
import { boundNames, partsOf } from './targets.ts'

/** Order and names of the parameters of functions and lambdas, and of type parameters. */
export function parameterRules(context: CompileContext): RuleHandlers {
  const ofLambda = (visit: Visit) => checkParameters(context, visit.node, 'Lambda expression')
  return {
    enter: {
      parameters: (visit) => checkParameters(context, visit.node, 'Function'),
      lambda_parameters: ofLambda,
      'function_definition.type_parameters': ({ node }) => checkTypeParameters(context, node),
      'class_definition.type_parameters': ({ node }) => checkTypeParameters(context, node),
      'type_alias_statement.left': ({ node }) => checkAlias(context, node),
    },
  }
}

function checkParameters(context: CompileContext, list: Node, kind: string): void {
  const order = new ParameterOrder(context)
  const names = new Set<string>()
  for (const parameter of partsOf(list)) {
    const bound = boundBy(parameter)
    if (bound.type === 'tuple_pattern')
      context.refuse(bound.startIndex, `${kind} parameters cannot be parenthesized`)
    order.add(parameter, bound)
    for (const [name, at] of boundNames(bound)) {
      if (names.has(name)) context.refuse(at, `duplicate argument '${name}' in function definition`)
      names.add(name)
    }
  }
  order.end()
}

/** Returns the name of a parameter, with its stars. */
function boundBy(parameter: Node): Node {
  if (parameter.type === 'identifier') return parameter
  const name = parameter.childForFieldName('name')
  return name ?? ((parameter.type === 'typed_parameter' && parameter.firstNamedChild) || parameter)
}

const UNPACKED = /^(list|dictionary)_splat_pattern$/

/** Checks the order of parameters: `a, /, b, c=1, *d, e, **f`. */
class ParameterOrder {
  readonly #context: CompileContext
  #count = 0
  #hasDefault = false
  #hasSlash = false
  #star: Node | undefined
  /** True directly after a bare `*`, which a name must follow. */
  #isBareStar = false
  #keywords: Node | undefined

  constructor(context: CompileContext) {
    this.#context = context
  }

  add(parameter: Node, bound: Node): void {
    const { startIndex: at } = parameter
    if (this.#keywords) this.#context.refuse(at, 'arguments cannot follow var-keyword argument')
    if (parameter.type === 'positional_separator') this.#addSlash(at)
    else if (bound.type === 'dictionary_splat_pattern') this.#addKeywords(parameter)
    else if (parameter.type === 'keyword_separator' || bound.type === 'list_splat_pattern')
      this.#addStar(parameter)
    else this.#addNamed(parameter)
    if (UNPACKED.test(bound.type) && bound.firstNamedChild?.type !== 'identifier')
      this.#context.refuse(at, 'invalid syntax')
    this.#count++
  }

  end(): void {
    if (this.#isBareStar && this.#star)
      this.#context.refuse(this.#star.startIndex, 'named arguments must follow bare *')
  }

  #addSlash(at: number): void {
    if (this.#hasSlash) this.#context.refuse(at, '/ may appear only once')
    if (this.#star) this.#context.refuse(at, '/ must be ahead of *')
    if (this.#count === 0) this.#context.refuse(at, 'at least one argument must precede /')
    this.#hasSlash = true
  }

  #addStar(parameter: Node): void {
    if (this.#star) this.#context.refuse(parameter.startIndex, '* argument may appear only once')
    this.#star = parameter
    this.#isBareStar = parameter.type === 'keyword_separator'
  }

  #addKeywords(parameter: Node): void {
    if (this.#isBareStar)
      this.#context.refuse(parameter.startIndex, 'named arguments must follow bare *')
    this.#keywords = parameter
  }

  #addNamed(parameter: Node): void {
    const hasDefault = /default_parameter$/.test(parameter.type)
    if (this.#hasDefault && !hasDefault && !this.#star) {
      const reason = 'parameter without a default follows parameter with a default'
      this.#context.refuse(parameter.startIndex, reason)
    }
    this.#hasDefault ||= hasDefault
    this.#isBareStar = false
  }
}

/** Checks the names and bounds of `[T: int, *Ts, **P]`. */
function checkTypeParameters(context: CompileContext, list: Node): void {
  const names = new Set<string>()
  for (const type of partsOf(list)) {
    const name = readTypeParameter(context, type)
    if (names.has(name)) context.refuse(type.startIndex, `duplicate type parameter '${name}'`)
    names.add(name)
  }
}

const TYPE_PARAMETER = /^(\*{0,2})\s*([\p{L}\p{N}\p{M}_]+)$/u

function readTypeParameter({ source, refuse }: CompileContext, type: Node): string {
  const whole = type.firstNamedChild
  const isBounded = whole?.type === 'constrained_type'
  const text = ((isBounded ? whole.firstNamedChild : whole)?.text ?? '').normalize('NFKC')
  const [, stars, name] = TYPE_PARAMETER.exec(text) ?? []
  if (!name) throw syntaxFault(source, type.startIndex, 'invalid syntax')
  if (isBounded && stars) {
    const kind = stars === '*' ? 'TypeVarTuple' : 'ParamSpec'
    refuse(type.startIndex, `cannot use bound with ${kind}`)
  }
  return name
}

/** Checks the left side of `type X[T] = …`. The grammar takes `type(x).y = …` for one, too. */
function checkAlias(context: CompileContext, left: Node): void {
  const name = left.firstNamedChild
  if (name?.type === 'generic_type') {
    const list = name.lastNamedChild
    if (list) checkTypeParameters(context, list)
  } else if (name?.type !== 'identifier' && isTypeAlias(context.source, left.startIndex))
    context.refuse(left.startIndex, 'invalid syntax')
}

/** False for `type(x).y = …` and `type[x] = …`, given the position after `type`. */
export const isTypeAlias = (source: string, at: number): boolean => !/[([]/.test(source[at] ?? '')
