import type { Node } from 'web-tree-sitter'
import { nameOf } from '../python/scope.ts'
import type { CompileContext } from './compile-scope.ts'
import { patternKey } from './pattern-key.ts'
import type { RuleHandlers } from './rule-walk.ts'
import { isParenthesized, partsOf } from './targets.ts'

/** Patterns of `match`: unreachable patterns and repeated names, keys and attributes. */
export function patternRules(context: CompileContext): RuleHandlers {
  return {
    enter: {
      match_statement: ({ node }) => {
        const cases = node.childForFieldName('body')?.childrenForFieldName('alternative') ?? []
        for (const clause of cases) checkCase(context, clause, clause === cases.at(-1))
      },
    },
  }
}

function checkCase(context: CompileContext, clause: Node, isLast: boolean): void {
  const patterns = partsOf(clause).filter(({ type }) => type === 'case_pattern')
  const reader = new PatternReader(context)
  if (clause.children.some(({ type }) => type === ',')) reader.readSequence(patterns)
  else if (patterns[0])
    reader.read(patterns[0], isLast || clause.childForFieldName('guard') !== null)
}

/** Reads one pattern, and collects the names that it binds. Brackets limit the depth to 200. */
class PatternReader {
  readonly #context: CompileContext
  #names = new Set<string>()

  constructor(context: CompileContext) {
    this.#context = context
  }

  /** Reads a pattern; `mayMatchAll` if a pattern that matches everything is allowed at its place. */
  read(pattern: Node, mayMatchAll: boolean): void {
    const { type } = pattern
    if (type === '_') this.#requireRefutable(pattern, 'wildcard', mayMatchAll)
    else if (type === 'case_pattern') this.#readParts(pattern, mayMatchAll)
    else if (type === 'dotted_name') this.#readName(pattern, mayMatchAll)
    else if (type === 'tuple_pattern') this.#readTuple(pattern, mayMatchAll)
    else if (type === 'list_pattern') this.readSequence(partsOf(pattern))
    else if (type === 'union_pattern') this.#readUnion(pattern, mayMatchAll)
    else if (type === 'as_pattern') this.#readAs(pattern, mayMatchAll)
    else if (type === 'class_pattern') this.#readClass(pattern)
    else if (type === 'dict_pattern') this.#readMapping(pattern)
    else if (type === 'splat_pattern') this.#context.refuse(pattern.startIndex, 'invalid syntax')
  }

  readSequence(patterns: readonly Node[]): void {
    let hasStar = false
    for (const pattern of patterns) {
      const splat = pattern.firstNamedChild?.type === 'splat_pattern' && pattern.firstNamedChild
      if (!splat) {
        this.read(pattern, true)
        continue
      }
      const { startIndex: at } = splat
      if (hasStar) this.#context.refuse(at, 'multiple starred expressions in sequence pattern')
      if (splat.firstChild?.type !== '*') this.#context.refuse(at, 'invalid syntax')
      hasStar = true
      this.#bind(splat.firstNamedChild)
    }
  }

  #readParts(pattern: Node, mayMatchAll: boolean): void {
    for (const part of pattern.children) this.read(part, mayMatchAll)
  }

  #readName(name: Node, mayMatchAll: boolean): void {
    const [identifier, second] = partsOf(name)
    if (!identifier || second) return
    this.#requireRefutable(name, `name capture '${nameOf(identifier)}'`, mayMatchAll)
    this.#bind(identifier)
  }

  #readTuple(pattern: Node, mayMatchAll: boolean): void {
    const parts = partsOf(pattern)
    const [only] = parts
    if (only && isParenthesized(pattern)) this.read(only, mayMatchAll)
    else this.readSequence(parts)
  }

  /** Alternatives bind the same names, and only the last one may match everything. */
  #readUnion(pattern: Node, mayMatchAll: boolean): void {
    const outer = this.#names
    const alternatives = pattern.children.filter(
      ({ type }) => !/^([|-]|comment|line_continuation)$/.test(type),
    )
    let expected: Set<string> | undefined
    for (const alternative of alternatives) {
      this.#names = new Set()
      this.read(alternative, mayMatchAll && alternative === alternatives.at(-1))
      expected ??= this.#names
      if (!areEqual(expected, this.#names))
        this.#context.refuse(pattern.startIndex, 'alternative patterns bind different names')
    }
    this.#names = outer
    for (const name of expected ?? []) this.#bindName(name, pattern.startIndex)
  }

  #readAs(pattern: Node, mayMatchAll: boolean): void {
    const [inner, alias] = partsOf(pattern)
    if (inner) this.read(inner, mayMatchAll)
    if (alias?.text === '_') this.#context.refuse(alias.startIndex, "cannot use '_' as a target")
    this.#bind(alias)
  }

  #readClass(pattern: Node): void {
    const attributes = new Set<string>()
    const [, ...parts] = partsOf(pattern)
    for (const part of parts) {
      const keyword = part.firstNamedChild?.type === 'keyword_pattern' && part.firstNamedChild
      if (keyword) this.#readAttribute(keyword, attributes)
      else if (attributes.size > 0)
        this.#context.refuse(part.startIndex, 'positional patterns follow keyword patterns')
      else this.read(part, true)
    }
  }

  #readAttribute(pattern: Node, attributes: Set<string>): void {
    const [name, , value] = pattern.children.filter(({ type }) => type !== 'comment')
    if (!name || !value) return
    const attribute = nameOf(name)
    if (attributes.has(attribute)) {
      const reason = `attribute name repeated in class pattern: ${attribute}`
      this.#context.refuse(name.startIndex, reason)
    }
    attributes.add(attribute)
    this.read(value, true)
  }

  #readMapping(pattern: Node): void {
    const keys = new Set<string>()
    let key: Node[] = []
    for (const part of pattern.children) {
      if (part.type === ',' || part.type === '{') key = []
      else if (part.type === ':') this.#addKey(key, keys)
      else if (part.type === 'case_pattern') this.read(part, true)
      else if (part.type === 'splat_pattern') this.#readRest(part, pattern)
      else key.push(part)
    }
  }

  #addKey(key: readonly Node[], keys: Set<string>): void {
    const text = key.map((part) => part.text).join('')
    const value = patternKey(key)
    if (value === undefined) return
    if (keys.has(value)) {
      const reason = `mapping pattern checks duplicate key (${text})`
      this.#context.refuse(key[0]?.startIndex ?? 0, reason)
    }
    keys.add(value)
  }

  #readRest(splat: Node, mapping: Node): void {
    const isLast = partsOf(mapping).at(-1)?.equals(splat)
    if (!isLast || splat.firstChild?.type !== '**' || splat.namedChildCount === 0)
      this.#context.refuse(splat.startIndex, 'invalid syntax')
    this.#bind(splat.firstNamedChild)
  }

  #requireRefutable(pattern: Node, what: string, mayMatchAll: boolean): void {
    if (!mayMatchAll)
      this.#context.refuse(pattern.startIndex, `${what} makes remaining patterns unreachable`)
  }

  #bind(identifier: Node | null | undefined): void {
    if (identifier) this.#bindName(nameOf(identifier), identifier.startIndex)
  }

  #bindName(name: string, at: number): void {
    if (this.#names.has(name))
      this.#context.refuse(at, `multiple assignments to name '${name}' in pattern`)
    this.#names.add(name)
  }
}

const areEqual = (some: Set<string>, others: Set<string>): boolean =>
  some.size === others.size && [...some].every((name) => others.has(name))
