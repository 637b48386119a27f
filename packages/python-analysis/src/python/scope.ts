import type { Node } from 'web-tree-sitter'

/** A function or class of the source. */
export interface Definition {
  kind: 'function' | 'class'
  name: string
  node: Node
  decorators: Node[]
  /** Where it stands, and so where its decorators, defaults and bases are evaluated. */
  scope: Scope
  /** The names of its own body. */
  body: Scope
}

/** What a name was given, and where. */
export type Binding = BindingTarget & {
  at: number
  /** It happens whenever the code around it runs: not in a branch, a loop or a handler. */
  isUnconditional: boolean
  scope: Scope
}

export type BindingTarget =
  /** A module or something of one, by its dotted path. */
  | { kind: 'import'; path: string }
  | { kind: 'value'; value: Node }
  | { kind: 'definition'; definition: Definition }
  /** Something that cannot be known here: a parameter, a loop variable, an augmented value. */
  | { kind: 'opaque' }

/** The names of a module, function or class body. */
export interface Scope {
  kind: 'module' | 'function' | 'class'
  outer: Scope | undefined
  /** In the order of the source, once `later` is empty. */
  bindings: Map<string, Binding[]>
  /** Makes more bindings. Few of a source's functions are ever looked into. */
  deferred: (() => void)[]
  /** Modules whose names were imported all at once. */
  starImports: string[]
}

export const newScope = (kind: Scope['kind'], outer?: Scope): Scope => ({
  kind,
  outer,
  bindings: new Map(),
  deferred: [],
  starImports: [],
})

/** When a name is read by code that runs after the whole module was: a function's body, a type. */
export const END_OF_SOURCE = Number.POSITIVE_INFINITY

/**
 * What `name` may stand for when read at `at` in `scope`, latest first: more than one when branches
 * give it, none when nothing in the source does.
 */
export function findBindings(scope: Scope, name: string, at: number): Binding[] {
  let before = at
  for (let here: Scope | undefined = scope; here; here = here.outer) {
    // The names of a class body are not seen from the functions in it.
    const bindings = here === scope || here.kind !== 'class' ? bindingsIn(here, name) : undefined
    const found = latest(bindings ?? [], before)
    if (found.length > 0) return found
    if (here.kind !== 'function') continue
    // A function's names are its own even where they are not bound yet; others it reads when it runs.
    if (bindings) return bindings
    before = END_OF_SOURCE
  }
  return []
}

/** All that a scope itself gives a name. */
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
    if (binding.isUnconditional) break
  }
  return found
}

/** Python compares identifiers in this form. */
export const nameOf = (identifier: Node): string => identifier.text.normalize('NFKC')
