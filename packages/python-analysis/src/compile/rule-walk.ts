import type { Node } from 'web-tree-sitter'
import type { RuleTokens } from './rule-tokens.ts'

/** The node that a walk enters or leaves. `at`, `end` and `node` are calls into WebAssembly. */
export interface Visit {
  readonly type: string
  /** Type of the node around it; empty for the root. */
  readonly parent: string
  /** Position in the source. */
  readonly at: number
  readonly end: number
  readonly node: Node
  /** Number of nodes around it. */
  readonly depth: number
  /** Returns the type of a node around it: 1 for its parent; empty beyond the root. */
  typeAround(levels: number): string
}

export type Handler = (visit: Visit) => void

/**
 * Handlers of one group of rules, by the type of a node, or by `type.field` for a node in that field of a node
 * of that type.
 */
export interface RuleHandlers {
  enter?: Record<string, Handler>
  leave?: Record<string, Handler>
}

interface Handlers {
  enter: Handler[]
  leave: Handler[]
}

/** Handlers of nodes of one type, and of the nodes in the fields of nodes of that type. */
interface TypeHandlers extends Handlers {
  fields: Map<string, Handlers> | undefined
}

/**
 * Calls the handlers of all rules in one walk over a tree, in the order of the source. The walk keeps its own
 * stack, because a tree may be as deep as the source is long, and asks the parser for as little as possible:
 * each property of a node is a call into WebAssembly. Parts without the tokens that rules apply to are left out.
 */
export function walkRules(
  root: Node,
  { positions }: RuleTokens,
  groups: readonly RuleHandlers[],
): void {
  const walk = new RuleWalk(root, positions, toTable(groups))
  try {
    walk.run()
  } finally {
    walk.close()
  }
}

function toTable(groups: readonly RuleHandlers[]): Map<string, TypeHandlers> {
  const table = new Map<string, TypeHandlers>()
  for (const group of groups) {
    for (const event of ['enter', 'leave'] as const) {
      for (const [key, handler] of Object.entries(group[event] ?? {})) {
        addHandler(table, key, event, handler)
      }
    }
  }
  return table
}

function addHandler(
  table: Map<string, TypeHandlers>,
  key: string,
  event: 'enter' | 'leave',
  handler: Handler,
): void {
  const [type = '', field] = key.split('.')
  const ofType = table.get(type) ?? { enter: [], leave: [], fields: undefined }
  table.set(type, ofType)
  if (field === undefined) {
    ofType[event].push(handler)
    return
  }
  ofType.fields ??= new Map()
  const ofField = ofType.fields.get(field) ?? { enter: [], leave: [] }
  ofType.fields.set(field, ofField)
  ofField[event].push(handler)
}

/** Nodes in which no rule looks at a part. */
const LEAVES = new Set(
  `identifier integer float true false none ellipsis comment line_continuation dotted_name relative_import
  string_start string_content string_end pass_statement break_statement continue_statement`.split(
    /\s+/,
  ),
)

/** Type of nodes with its handlers. */
interface KnownType {
  type: string
  handlers: TypeHandlers | undefined
  isLeaf: boolean
}

class RuleWalk implements Visit {
  readonly #cursor: ReturnType<Node['walk']>
  readonly #table: Map<string, TypeHandlers>
  /** Positions of tokens that rules apply to, and the index of the first one that is not before the node. */
  readonly #positions: readonly number[]
  #next = 0
  readonly #language: Node['tree']['language']
  /** By the number of the type. */
  readonly #known: KnownType[] = []
  /** Types of the nodes around the current one, and its own. */
  readonly #types: KnownType[] = []
  /** Handlers of the same nodes by the field that they are in. */
  readonly #byField: (Handlers | undefined)[] = []
  #isSkipped = false

  constructor(root: Node, positions: readonly number[], table: Map<string, TypeHandlers>) {
    this.#positions = positions
    this.#cursor = root.walk()
    this.#language = root.tree.language
    this.#table = table
  }

  get type(): string {
    return this.typeAround(0)
  }

  get parent(): string {
    return this.typeAround(1)
  }

  get at(): number {
    return this.#cursor.startIndex
  }

  get end(): number {
    return this.#cursor.endIndex
  }

  get node(): Node {
    return this.#cursor.currentNode
  }

  get depth(): number {
    return this.#types.length
  }

  typeAround(levels: number): string {
    return this.#types.at(-1 - levels)?.type ?? ''
  }

  run(): void {
    this.#enter()
    for (;;) {
      if (!this.#isSkipped && this.#cursor.gotoFirstChild()) {
        this.#enter()
        continue
      }
      this.#leave()
      while (!this.#cursor.gotoNextSibling()) {
        if (!this.#cursor.gotoParent()) return
        this.#leave()
      }
      this.#enter()
    }
  }

  close(): void {
    this.#cursor.delete()
  }

  #enter(): void {
    const id = this.#cursor.nodeTypeId
    const known = this.#known[id] ?? this.#learnType(id)
    const fields = this.#types.at(-1)?.handlers?.fields
    const field = fields && this.#cursor.currentFieldName
    const byField = field ? fields?.get(field) : undefined
    this.#isSkipped = known.isLeaf || !this.#hasToken()
    this.#types.push(known)
    this.#byField.push(byField)
    if (byField) for (const handler of byField.enter) handler(this)
    if (known.handlers) for (const handler of known.handlers.enter) handler(this)
  }

  /** True if the current node contains a token that rules apply to. */
  #hasToken(): boolean {
    const start = this.#cursor.startIndex
    while ((this.#positions[this.#next] ?? Number.POSITIVE_INFINITY) < start) this.#next++
    const next = this.#positions[this.#next]
    return next !== undefined && next < this.#cursor.endIndex
  }

  #leave(): void {
    const handlers = this.#types.at(-1)?.handlers
    const byField = this.#byField.at(-1)
    if (handlers) for (const handler of handlers.leave) handler(this)
    if (byField) for (const handler of byField.leave) handler(this)
    this.#types.pop()
    this.#byField.pop()
  }

  #learnType(id: number): KnownType {
    const type = this.#cursor.nodeType
    const isNamed = this.#language.nodeTypeIsNamed(id)
    // The keyword `await` has the type of the expression that it begins.
    const handlers = isNamed || !/^\w/.test(type) ? this.#table.get(type) : undefined
    const known = { type, handlers, isLeaf: !isNamed || LEAVES.has(type) }
    this.#known[id] = known
    return known
  }
}
