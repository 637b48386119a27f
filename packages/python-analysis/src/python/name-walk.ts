import type { Node } from 'web-tree-sitter'
import type { Path } from './name-use.ts'

/** Calls for each node that a walk moves into or out of. */
export interface WalkHooks {
  /** `path` ends with the node. */
  enter(path: Path): void
  leave(path: Path): void
}

/** A walk over the leaves of a tree in the order of the source. */
export class NameWalk {
  /** From the root to the current node. */
  readonly path: Path = []
  /** Number of functions around the current node. */
  functions = 0
  /** Indexes of the types in the path. */
  readonly types: number[] = []
  readonly #cursor: ReturnType<Node['walk']>
  readonly #hooks: WalkHooks | undefined

  constructor(root: Node, hooks?: WalkHooks) {
    this.#cursor = root.walk()
    this.#hooks = hooks
    this.#push()
  }

  end(): void {
    this.#cursor.delete()
  }

  /** Moves forward to the identifier at a position; false if there is none. */
  descendTo(at: number): boolean {
    while (this.#cursor.endIndex <= at) if (!this.#advance()) return false
    while (this.#cursor.startIndex <= at) {
      if (!this.#cursor.gotoFirstChild()) return this.path.at(-1)?.type === 'identifier'
      this.#push()
      while (this.#cursor.endIndex <= at) if (!this.#advance()) return false
    }
    return false
  }

  /** Moves to the next node that is not inside of the current one. */
  #advance(): boolean {
    this.#pop()
    while (!this.#cursor.gotoNextSibling()) {
      if (!this.#cursor.gotoParent()) return false
      this.#pop()
    }
    this.#push()
    return true
  }

  #push(): void {
    const type = this.#cursor.nodeType
    this.path.push({ type, field: this.#cursor.currentFieldName })
    if (type === 'function_definition' || type === 'lambda') this.functions++
    if (type === 'type') this.types.push(this.path.length - 1)
    this.#hooks?.enter(this.path)
  }

  #pop(): void {
    this.#hooks?.leave(this.path)
    const type = this.path.pop()?.type
    if (type === 'function_definition' || type === 'lambda') this.functions--
    if (type === 'type') this.types.pop()
  }
}
