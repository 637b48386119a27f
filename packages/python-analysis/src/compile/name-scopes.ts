import type { Path } from '../python/name-use.ts'
import type { WalkHooks } from '../python/name-walk.ts'
import type { CompileContext } from './compile-scope.ts'

/** `assign_expression` binds the name outside of the comprehensions around it. */
export type NameUseInScope =
  | 'read'
  | 'bind'
  | 'import'
  | 'parameter'
  | 'annotate'
  | 'assign_expression'
  | 'global'
  | 'nonlocal'

interface NameScope {
  kind: 'module' | 'class' | 'function' | 'comprehension'
  outer: NameScope | undefined
  uses: Map<string, Set<NameUseInScope>>
  /** Number of `for` clauses of a comprehension that the walk has entered. */
  clauses: number
}

interface Occurrence {
  name: string
  at: number
  use: NameUseInScope
}

const COMPREHENSION = /^((list|set|dictionary)_comprehension|generator_expression)$/

/** Uses of declared names in each scope. A walk over the tree keeps the current scope up to date. */
export class NameScopes implements WalkHooks {
  readonly #context: CompileContext
  readonly #nonlocals: { name: string; at: number; scope: NameScope }[] = []
  /** Scopes around the current node; the last one is the current scope. */
  readonly #stack: NameScope[] = [newScope('module', undefined)]
  /** Parameters of the functions around the current node, until their bodies are entered. */
  readonly #parameters: string[][] = []

  constructor(context: CompileContext) {
    this.#context = context
  }

  enter(path: Path): void {
    const { type = '', field } = path.at(-1) ?? {}
    if (type === 'function_definition' || type === 'lambda') this.#parameters.push([])
    if (type === 'for_in_clause') this.#current.clauses++
    this.#stack.push(this.#scopeOf(type, `${path.at(-2)?.type}.${field}`))
  }

  leave(path: Path): void {
    const type = path.at(-1)?.type
    if (type === 'function_definition' || type === 'lambda') this.#parameters.pop()
    this.#stack.pop()
  }

  add({ name, at, use }: Occurrence): void {
    const scope = this.#current
    if (use === 'parameter') this.#parameters.at(-1)?.push(name)
    else if (use === 'global' || use === 'nonlocal') this.#declare(name, at, use)
    else if (use === 'assign_expression') addUse(outsideComprehensions(scope), name, 'bind')
    else {
      if (use === 'annotate') this.#checkAnnotated(scope, name, at)
      addUse(scope, name, use)
    }
  }

  /** Checks that each `nonlocal` has a binding in a function around it. */
  resolveNonlocals(): void {
    for (const { name, at, scope } of this.#nonlocals) {
      if (name !== '__class__' && !isBoundAround(scope, name))
        this.#context.refuse(at, `no binding for nonlocal '${name}' found`)
    }
  }

  get #current(): NameScope {
    return this.#stack.at(-1) as NameScope
  }

  #scopeOf(type: string, place: string): NameScope {
    const current = this.#current
    if (COMPREHENSION.test(type)) return newScope('comprehension', current)
    if (place === 'class_definition.body') return newScope('class', current)
    if (place === 'function_definition.body' || place === 'lambda.body') {
      const scope = newScope('function', current)
      for (const name of this.#parameters.at(-1) ?? []) addUse(scope, name, 'parameter')
      return scope
    }
    // The first iterable of a comprehension is evaluated outside of it.
    const isFirstIterable = place === 'for_in_clause.right' && current.clauses === 1
    return (isFirstIterable && current.outer) || current
  }

  #declare(name: string, at: number, use: 'global' | 'nonlocal'): void {
    const { refuse } = this.#context
    const scope = this.#current
    if (use === 'nonlocal' && scope.kind === 'module')
      refuse(at, 'nonlocal declaration not allowed at module level')
    const uses = scope.uses.get(name)
    if (uses?.has('parameter')) refuse(at, `name '${name}' is parameter and ${use}`)
    if (uses?.has('read')) refuse(at, `name '${name}' is used prior to ${use} declaration`)
    if (uses?.has('annotate')) refuse(at, `annotated name '${name}' can't be ${use}`)
    if (uses?.has('bind')) refuse(at, `name '${name}' is assigned to before ${use} declaration`)
    if (uses?.has(use === 'global' ? 'nonlocal' : 'global'))
      refuse(at, `name '${name}' is nonlocal and global`)
    addUse(scope, name, use)
    if (use === 'nonlocal') this.#nonlocals.push({ name, at, scope })
  }

  #checkAnnotated({ kind, uses }: NameScope, name: string, at: number): void {
    const declared = uses.get(name)
    if (kind === 'module' || !declared) return
    for (const use of ['global', 'nonlocal'] as const) {
      if (declared.has(use)) this.#context.refuse(at, `annotated name '${name}' can't be ${use}`)
    }
  }
}

const newScope = (kind: NameScope['kind'], outer: NameScope | undefined): NameScope => ({
  kind,
  outer,
  uses: new Map(),
  clauses: 0,
})

function addUse({ uses }: NameScope, name: string, use: NameUseInScope): void {
  const known = uses.get(name)
  if (known) known.add(use)
  else uses.set(name, new Set([use]))
}

function outsideComprehensions(scope: NameScope): NameScope {
  let outside = scope
  while (outside.kind === 'comprehension' && outside.outer) outside = outside.outer
  return outside
}

/** True if a function around a scope binds a name, before one declares it global. */
function isBoundAround({ outer }: NameScope, name: string): boolean {
  for (let scope = outer; scope; scope = scope.outer) {
    if (scope.kind !== 'function') continue
    const uses = scope.uses.get(name)
    if (uses?.has('global')) return false
    if (uses && BINDS.some((use) => uses.has(use))) return true
  }
  return false
}

const BINDS: NameUseInScope[] = ['parameter', 'bind', 'import', 'annotate', 'nonlocal']
