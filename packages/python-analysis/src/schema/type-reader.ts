import type { Node } from 'web-tree-sitter'
import { type Arguments, argumentsOf } from '../python/arguments.ts'
import type { Budget } from '../python/budget.ts'
import { attributesOf } from '../python/class-body.ts'
import {
  bindingsOf,
  boundValue,
  calledPaths,
  childOf,
  type Expression,
  pathsOf,
  unwrap,
} from '../python/expression.ts'
import { AT_END, type Definition, nameOf } from '../python/scope.ts'
import { stringValue } from '../python/strings.ts'
import { shapeOf } from './class-kind.ts'
import { constrain, describe } from './constraints.ts'
import { enumSchema } from './enums.ts'
import { type FieldOptions, readMetadataOptions } from './fields.ts'
import { knownSchema, unionSchema } from './generics.ts'
import { CONSTRAINED, knownName, LISTS, type Schema, SETS, WRAPPERS } from './known-types.ts'
import { modelSchema } from './models.ts'
import type { TypeContext } from './type-context.ts'
import { alternativesOf, classOf, isUnion, subscriptOf } from './type-expression.ts'

const MAX_NOTES = 50
const MAX_FORWARD_CHARS = 1_000
/** Limit on shared types: validators compile each type recursively from those that refer to it. */
const MAX_SHARED = 200

/** Type that is referred to by `$ref`. */
interface SharedType {
  name: string
  schema: Schema
  uses: number
}

/** Converts Python types to JSON Schema. An unknown type becomes `{}` with a note. */
export class TypeReader implements TypeContext {
  readonly #budget: Budget
  readonly #parse: (expression: string) => Node | undefined
  /** By class, or by the position of an alias's value. */
  readonly #shared = new Map<Definition | number, SharedType>()
  readonly #notes = new Set<string>()

  constructor(budget: Budget, parse: (expression: string) => Node | undefined) {
    this.#budget = budget
    this.#parse = parse
  }

  /** Returns the schema of a type with all definitions that it refers to. */
  schemaOf(type: Expression): { schema: Schema; notes: string[] } {
    const root = this.read(type, 'input')
    const entries = [...this.#shared.values()].filter(({ uses }) => uses > 0)
    const top = entries.find(({ name, uses }) => uses === 1 && root.$ref === refTo(name))
    const others = entries.filter((entry) => entry !== top)
    const defs = Object.fromEntries(others.map(({ name, schema }) => [name, schema]))
    const schema = { ...(others.length > 0 ? { $defs: defs } : {}), ...(top?.schema ?? root) }
    return { schema, notes: [...this.#notes] }
  }

  note(where: string, reason: string): void {
    if (this.#notes.size < MAX_NOTES) this.#notes.add(`${where}: ${reason}`)
  }

  inClassBody({ body }: Definition, node: Node): Expression {
    return { node, scope: body, at: AT_END, hops: 0, budget: this.#budget }
  }

  read(type: Expression, where: string): Schema {
    this.#budget.spend()
    const here = unwrap(type)
    const { node } = here
    if (node.type === 'none') return { type: 'null' }
    if (node.type === 'string') return this.#readForwardReference(here, where)
    if (isUnion(node)) return unionSchema(alternativesOf(here).map((one) => this.read(one, where)))
    if (node.type === 'call') return this.#readCall(here, where)
    const subscript = subscriptOf(here)
    if (!subscript) return this.#readName(here, where)
    const name = knownName(pathsOf(subscript.base))
    if (name === 'Annotated') return this.readField(here, where).schema
    if (classOf(subscript.base)) {
      this.note(where, `the type arguments of ${subscript.base.node.text} are not followed`)
      return this.#readName(subscript.base, where)
    }
    const schema = name && knownSchema(name, subscript.args, where, this)
    return schema || this.#unknown(here, where)
  }

  readField(type: Expression, where: string): { schema: Schema; stated: FieldOptions } {
    const here = unwrap(type)
    const subscript = subscriptOf(here)
    const name = subscript && knownName(pathsOf(subscript.base))
    const [inner, ...items] = subscript?.args ?? []
    const isWrapper = name !== undefined && (name === 'Annotated' || WRAPPERS.has(name))
    if (!inner || !isWrapper) {
      return { schema: this.read(here, where), stated: { options: new Map(), hasDefault: false } }
    }
    const { schema, stated } = this.readField(inner, where)
    for (const item of items) this.#narrow(schema, stated, { item, where })
    return { schema, stated }
  }

  #narrow(
    schema: Schema,
    stated: FieldOptions,
    { item, where }: { item: Expression; where: string },
  ) {
    const more = readMetadataOptions(item)
    if (!more) return
    for (const [name, value] of more.options) stated.options.set(name, value)
    stated.hasDefault ||= more.hasDefault
    if (more.default) stated.default = more.default
    this.#constrain(schema, more.options, where)
    describe(schema, more.options)
  }

  #constrain(schema: Schema, options: Map<string, Expression>, where: string): void {
    for (const what of constrain(schema, options)) this.note(where, `its ${what} is not checked`)
  }

  /** Reads a type in quotes, which may be defined further down. */
  #readForwardReference(here: Expression, where: string): Schema {
    const text = stringValue(here.node)
    const short = text !== undefined && text.length <= MAX_FORWARD_CHARS
    const node = short ? this.#parse(text) : undefined
    if (!node || here.hops > 8) return this.#unknown(here, where)
    return this.read({ ...childOf(here, node), at: AT_END, hops: here.hops + 1 }, where)
  }

  #readName(here: Expression, where: string): Schema {
    const definition = classOf(here)
    if (definition) return this.#readClass(definition, where)
    const [binding] = here.node.type === 'identifier' ? bindingsOf(here) : []
    if (binding?.kind === 'value') {
      const value = boundValue(here, binding)
      return this.#readAlias(nameOf(here.node), { ...value, at: AT_END }, where)
    }
    const name = binding && binding.kind !== 'import' ? undefined : knownName(pathsOf(here))
    return (name && knownSchema(name, [], where, this)) || this.#unknown(here, where)
  }

  /** Reads `Json = dict[str, "Json"]`. Only a recursive alias needs a definition of its own. */
  #readAlias(name: string, value: Expression, where: string): Schema {
    const key = value.node.startIndex
    const known = this.#shared.get(key)
    if (known) return this.#use(known)
    const shared = this.#share(key, name)
    shared.schema = this.read(value, where)
    if (shared.uses > 0) return this.#use(shared)
    this.#shared.delete(key)
    return shared.schema
  }

  #readClass(definition: Definition, where: string): Schema {
    const known = this.#shared.get(definition)
    if (known) return this.#use(known)
    if (this.#shared.size >= MAX_SHARED) {
      this.note(where, `${definition.name} is one type too many`)
      return {}
    }
    const shape = shapeOf(definition, this)
    if (typeof shape === 'string') {
      this.note(where, `${definition.name} is not known: ${shape}`)
      return {}
    }
    const shared = this.#share(definition, definition.name)
    if (shape.kind === 'enum') shared.schema = enumSchema(definition, this)
    else if (shape.kind === 'root_model') shared.schema = this.#readRootModel(definition)
    else shared.schema = modelSchema(definition, shape, this)
    return this.#use(shared)
  }

  /** Reads `class Orders(RootModel[list[Order]])`, or `root: list[Order]` in its body. */
  #readRootModel(definition: Definition): Schema {
    const bases = definition.node.childForFieldName('superclasses')?.namedChildren ?? []
    const arg = bases.flatMap((base) => {
      const outside = { ...this.inClassBody(definition, base), scope: definition.scope }
      return subscriptOf(outside)?.args ?? []
    })[0]
    const stated = attributesOf(definition).find(({ name }) => name === 'root')?.type
    const root = stated ? this.inClassBody(definition, stated) : arg
    if (root) return { ...this.read(root, definition.name), title: definition.name }
    this.note(definition.name, 'its root type is not known')
    return {}
  }

  #readCall(here: Expression, where: string): Schema {
    const name = knownName(calledPaths(here)) ?? ''
    const schema = this.#readConstructed(name, argumentsOf(here), where)
    return schema ?? this.#unknown(here, where)
  }

  /** Reads `conint(ge=1)`, `conlist(int, max_length=3)`, `NewType("UserId", int)`. */
  #readConstructed(
    name: string,
    { positional, keywords }: Arguments,
    where: string,
  ): Schema | undefined {
    if (name === 'NewType' || name === 'TypeAliasType') {
      const inner = positional[1] ?? keywords.get('value')
      return inner && this.read(inner, where)
    }
    const item = keywords.get('item_type') ?? positional[0]
    const items = item && (LISTS.has(name) || SETS.has(name)) ? [item] : []
    const base = items.length > 0 ? name : CONSTRAINED.get(name)
    const schema = base ? knownSchema(base, items, where, this) : undefined
    if (schema) this.#constrain(schema, keywords, where)
    return schema
  }

  #share(key: Definition | number, wanted: string): SharedType {
    const taken = new Set([...this.#shared.values()].map(({ name }) => name))
    let name = wanted
    for (let n = 2; taken.has(name); n++) name = `${wanted}_${n}`
    const shared = { name, schema: {}, uses: 0 }
    this.#shared.set(key, shared)
    return shared
  }

  #use(shared: SharedType): Schema {
    shared.uses++
    return { $ref: refTo(shared.name) }
  }

  #unknown({ node }: Expression, where: string): Schema {
    this.note(where, `the type ${node.text.slice(0, 60)} is not known`)
    return {}
  }
}

/** Returns a `$ref`. It is a URI fragment, so special characters are escaped. */
const refTo = (name: string) => `#/$defs/${encodeURIComponent(name)}`
