import { syntaxFault } from '../python/syntax-fault.ts'

/** Facts about the source that the rules share. */
export class CompileContext {
  readonly source: string
  /** True after `from __future__ import annotations`. */
  readonly defersAnnotations: boolean
  readonly scopes = new ScopeStack()

  constructor(source: string) {
    this.source = source
    this.defersAnnotations = /^from[ \t]+__future__[ \t]+import\b.*\bannotations\b/m.test(source)
  }

  refuse = (at: number, reason: string): never => {
    throw syntaxFault(this.source, at, reason)
  }
}

export type ComprehensionForm =
  | 'list comprehension'
  | 'set comprehension'
  | 'dict comprehension'
  | 'generator expression'

/** An assignment expression in a comprehension. */
export interface NamedValue {
  name: string
  at: number
}

export interface Comprehension {
  form: ComprehensionForm
  at: number
  /** Position of its first `for`, once that has been read. */
  clausesAt: number
  clauses: number
  isAsync: boolean
  /** Iteration variables, with their positions. */
  targets: Map<string, number>
  named: NamedValue[]
}

/**
 * Code that runs in a frame of its own. `restricted` are annotations and type parameters, in which some
 * expressions are forbidden; `unevaluated` are annotations of local variables, which are not compiled.
 */
export interface CompileScope {
  kind:
    | 'module'
    | 'class'
    | 'function'
    | 'async_function'
    | 'lambda'
    | 'comprehension'
    | 'restricted'
    | 'unevaluated'
  outer: CompileScope | undefined
  /** Loops, handlers of `except*` and other handlers around the current statement. */
  blocks: ('loop' | 'except_group' | 'plain')[]
  yields: boolean
  /** Position of the first `return` with a value. */
  returnedAt: number | undefined
  comprehension: Comprehension | undefined
  /** Name of a restricted scope in errors. */
  place: string
}

/** The scope of the code that a walk is in. */
export class ScopeStack {
  current: CompileScope = newScope('module', undefined)
  readonly #left: CompileScope[] = []

  enter(kind: CompileScope['kind'], given: Partial<CompileScope> = {}): void {
    this.#left.push(this.current)
    this.current = { ...newScope(kind, this.current), ...given }
  }

  /** Enters the scope around the current one: the first iterable of a comprehension is evaluated there. */
  enterOuter(): void {
    this.#left.push(this.current)
    this.current = this.current.outer ?? this.current
  }

  /** Stays in the current scope until the next `leave`. */
  enterCurrent(): void {
    this.#left.push(this.current)
  }

  /** Returns to the scope before the last call, and returns the one that is left. */
  leave(): CompileScope {
    const left = this.current
    this.current = this.#left.pop() ?? left
    return left
  }
}

const newScope = (kind: CompileScope['kind'], outer: CompileScope | undefined): CompileScope => ({
  kind,
  outer,
  blocks: [],
  yields: false,
  returnedAt: undefined,
  comprehension: undefined,
  place: '',
})
