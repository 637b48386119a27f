import type { Node } from 'web-tree-sitter'

/** Function or class of the source. */
export interface Definition {
  kind: 'function' | 'class'
  name: string
  node: Node
  decorators: Node[]
  /** Enclosing scope, in which decorators, defaults and base classes are evaluated. */
  scope: Scope
  /** Scope of the body. */
  body: Scope
}

/** Binding of a name at a place of the source. */
export type Binding = BindingTarget & {
  at: number
  /** True if it happens whenever the surrounding code runs: not in a branch, loop or handler. */
  isCertain: boolean
  scope: Scope
}

export type BindingTarget =
  /** Module or member of one, by its dotted path. */
  | { kind: 'import'; path: string }
  | { kind: 'value'; value: Node }
  | { kind: 'definition'; definition: Definition }
  /** Value unknown to the analysis: a parameter, a loop variable, an augmented value. */
  | { kind: 'opaque' }

/** Names of a module, function or class body. */
export interface Scope {
  kind: 'module' | 'function' | 'class'
  outer: Scope | undefined
  /** In source order, once `deferred` is empty. */
  bindings: Map<string, Binding[]>
  /**
   * Statements of a function body that are read on first lookup: few functions are ever looked
   * into.
   */
  deferred: (() => void)[]
  /** Modules of `from module import *`. */
  starImports: string[]
}

export const newScope = (kind: Scope['kind'], outer?: Scope): Scope => ({
  kind,
  outer,
  bindings: new Map(),
  deferred: [],
  starImports: [],
})

/** Position for code that runs after the whole module: function bodies, deferred types. */
export const AT_END = Number.POSITIVE_INFINITY

/**
 * Returns the bindings that `name` may have when read at `at` in `scope`, latest first: several if
 * branches bind it, none if nothing in the source does.
 */
export function findBindings(scope: Scope, name: string, at: number): Binding[] {
  let before = at
  for (let here: Scope | undefined = scope; here; here = here.outer) {
    // Names of a class body are invisible in the functions inside it.
    const bindings = here === scope || here.kind !== 'class' ? bindingsIn(here, name) : undefined
    const found = latest(bindings ?? [], before)
    if (found.length > 0) return found
    if (here.kind !== 'function') continue
    // A name bound anywhere in a function is local to it, even before the binding. Other names are
    // looked up when the function runs.
    if (bindings) return bindings
    before = AT_END
  }
  return []
}

/** Returns all bindings that a scope itself gives a name. */
export function bindingsIn(scope: Scope, name: string): Binding[] | undefined {
  if (scope.deferred.length > 0) {
    for (const bind of scope.deferred.splice(0)) bind()
    for (const bindings of scope.bindings.values()) bindings.sort((a, b) => a.at - b.at)
  }
  return scope.bindings.get(name)
}

function latest(bindings: Binding[], before: number): Binding[] {
  const found: Binding[] = []
  for (let i = bindings.length - 1; i >= 0; i--) {
    const binding = bindings[i] as Binding
    if (binding.at >= before) continue
    found.push(binding)
    if (binding.isCertain) break
  }
  return found
}

/** Returns an identifier in NFKC, the form in which Python compares identifiers (PEP 3131). */
export const nameOf = (identifier: Node): string => identifier.text.normalize('NFKC')
