import type { Node } from 'web-tree-sitter'
import { importsOf } from './imports.ts'
import { type BindingTarget, type Definition, nameOf, newScope, type Scope } from './scope.ts'

/** Definitions and imports of a source, at every depth. */
export interface Outline {
  source: string
  module: Scope
  /** In source order. */
  definitions: Definition[]
  /** Without duplicates; those of the module before those in functions. */
  imports: string[]
}

interface Place {
  scope: Scope
  isCertain: boolean
  depth: number
}

/** Reads the statements of a tree without errors. Expressions are evaluated later, on demand. */
export function outlineOf(root: Node, source: string): Outline {
  const walk = new OutlineBuilder(source)
  const module = newScope('module')
  walk.statements(root, { scope: module, isCertain: true, depth: 0 })
  return { source, module, definitions: walk.definitions, imports: walk.imports() }
}

const MUTATORS = new Set(
  'append extend insert add update pop popitem remove discard clear setdefault sort reverse'.split(
    ' ',
  ),
)

const DEF = /(?:async\s+)?def\b/y
/** Text of a function body that must be read at once: definitions and imports. */
const NEEDS_READING = /\b(?:def|class|import)\b/

class OutlineBuilder {
  readonly definitions: Definition[] = []
  readonly #source: string
  readonly #imports: { listed: string; depth: number }[] = []

  constructor(source: string) {
    this.#source = source
  }

  imports(): string[] {
    const byDepth = this.#imports.toSorted((a, b) => a.depth - b.depth)
    return [...new Set(byDepth.map(({ listed }) => listed))]
  }

  statements(block: Node, place: Place): void {
    for (const statement of block.namedChildren) this.#statement(statement, place)
  }

  #statement(node: Node, place: Place): void {
    const { type } = node
    if (type === 'expression_statement') this.#expression(node, place)
    else if (type.startsWith('import_') || type === 'future_import_statement') {
      this.#import(node, place)
    } else if (type.endsWith('_definition')) this.#definition(node, place)
    else if (type === 'type_alias_statement') this.#typeAlias(node, place)
    else if (type === 'delete_statement') this.#bindOpaque(node, place)
    else this.#compound(node, place)
  }

  /** Reads a compound statement or one of its clauses. Names bound in its head are opaque. */
  #compound(node: Node, place: Place): void {
    const always = node.type === 'with_statement' || node.type === 'finally_clause'
    const inner = {
      ...place,
      isCertain: place.isCertain && always,
      depth: place.depth + 1,
    }
    for (const child of node.namedChildren) {
      if (child.type === 'block') this.statements(child, inner)
      else if (child.type.endsWith('_clause')) this.#compound(child, inner)
      else this.#head(node, child, inner)
    }
  }

  #head(node: Node, child: Node, place: Place): void {
    if (node.type === 'for_statement') {
      if (node.childForFieldName('left')?.equals(child)) this.#bindOpaque(child, place)
    } else if (child.type === 'case_pattern') this.#bindOpaque(child, place)
    else if (/^(with|except|except_group)_clause$/.test(node.type)) {
      for (const alias of child.descendantsOfType('as_pattern_target'))
        this.#bindOpaque(alias, place)
    }
  }

  #definition(node: Node, { scope, isCertain, depth }: Place): void {
    const decorated = node.type === 'decorated_definition'
    const inner = decorated ? node.childForFieldName('definition') : node
    const identifier = inner?.childForFieldName('name')
    if (!inner || !identifier) return
    const kind = inner.type === 'class_definition' ? 'class' : 'function'
    const definition: Definition = {
      kind,
      name: nameOf(identifier),
      node: inner,
      decorators: decorated ? node.namedChildren.filter(({ type }) => type === 'decorator') : [],
      scope,
      body: newScope(kind, scope),
    }
    this.definitions.push(definition)
    this.#bind(definition.name, { kind: 'definition', definition }, { at: inner, scope, isCertain })
    const within = { scope: definition.body, isCertain: true, depth: depth + 1 }
    if (kind === 'class') this.#body(inner, within)
    else this.#functionBody(inner, within)
  }

  #body(node: Node, place: Place): void {
    const body = node.childForFieldName('body')
    if (body) this.statements(body, place)
  }

  /**
   * Defers a function body unless its text contains a definition or an import: reading all bodies
   * would take longer than parsing.
   */
  #functionBody(node: Node, place: Place): void {
    const { deferred } = place.scope
    deferred.push(() => this.#parameters(node, place))
    DEF.lastIndex = node.startIndex
    const start = DEF.test(this.#source) ? DEF.lastIndex : node.startIndex
    const text = this.#source.slice(start, node.endIndex)
    if (NEEDS_READING.test(text)) this.#body(node, place)
    else deferred.push(() => this.#body(node, place))
  }

  #parameters(node: Node, place: Place): void {
    for (const parameter of node.childForFieldName('parameters')?.namedChildren ?? []) {
      const name = parameter.childForFieldName('name') ?? parameter.firstNamedChild ?? parameter
      this.#bind(name.text.replace(/^\*+/, ''), { kind: 'opaque' }, { at: node, ...place })
    }
  }

  #import(node: Node, { scope, isCertain, depth }: Place): void {
    for (const { name, path, listed } of importsOf(node)) {
      this.#imports.push({ listed, depth })
      if (name) this.#bind(name, { kind: 'import', path }, { at: node, scope, isCertain })
      else scope.starImports.push(path)
    }
  }

  #typeAlias(node: Node, place: Place): void {
    const value = node.childForFieldName('right')
    const name = node.childForFieldName('left')?.firstNamedChild
    if (value && name?.type === 'identifier') {
      this.#bind(nameOf(name), { kind: 'value', value }, { at: node, ...place })
    }
  }

  #expression(statement: Node, place: Place): void {
    const { scope } = place
    const bind = () => this.#bindExpression(statement.firstNamedChild, place)
    if (scope.kind === 'function') scope.deferred.push(bind)
    else bind()
  }

  #bindExpression(expression: Node | null, place: Place): void {
    if (expression?.type === 'assignment') this.#assignment(expression, place)
    else if (expression?.type === 'augmented_assignment') {
      this.#target(expression.childForFieldName('left'), undefined, place)
    } else if (expression?.type === 'call') this.#mutation(expression, place)
  }

  #assignment(assignment: Node, place: Place): void {
    const targets: (Node | null)[] = []
    let value: Node | null = assignment
    // `a = b = 1` is an assignment whose value is an assignment.
    while (value?.type === 'assignment') {
      targets.push(value.childForFieldName('left'))
      value = value.childForFieldName('right')
    }
    // `x: int` alone binds nothing.
    if (value) for (const target of targets) this.#target(target, value, place)
  }

  #target(target: Node | null, value: Node | undefined, place: Place): void {
    if (target?.type === 'identifier') {
      const bound: BindingTarget = value ? { kind: 'value', value } : { kind: 'opaque' }
      this.#bind(nameOf(target), bound, { at: target, ...place })
    } else if (target?.type === 'subscript' || target?.type === 'attribute') {
      this.#markMutated(target.firstNamedChild, place)
    } else if (target) this.#bindOpaque(target, place)
  }

  /** Marks a list as unknown after `NAMES.append(…)`: its literal is no longer its value. */
  #mutation(call: Node, place: Place): void {
    const method = call.childForFieldName('function')
    if (method?.type !== 'attribute') return
    if (MUTATORS.has(method.childForFieldName('attribute')?.text ?? '')) {
      this.#markMutated(method.childForFieldName('object'), place)
    }
  }

  #markMutated(object: Node | null, place: Place): void {
    if (object?.type !== 'identifier') return
    const known = place.scope.bindings.get(nameOf(object))?.at(-1)
    if (known?.kind === 'value')
      this.#bind(nameOf(object), { kind: 'opaque' }, { at: object, ...place })
  }

  #bindOpaque(pattern: Node, place: Place): void {
    const names =
      pattern.type === 'identifier' ? [pattern] : pattern.descendantsOfType('identifier')
    for (const name of names) {
      this.#bind(nameOf(name), { kind: 'opaque' }, { at: pattern, ...place })
    }
  }

  #bind(
    name: string,
    bound: BindingTarget,
    place: { at: Node; scope: Scope; isCertain: boolean },
  ): void {
    const { scope, isCertain } = place
    const binding = { ...bound, at: place.at.startIndex, isCertain, scope }
    const bindings = scope.bindings.get(name)
    if (bindings) bindings.push(binding)
    else scope.bindings.set(name, [binding])
  }
}
