import { type Attribute, attributesOf, docstringOf } from '../python/class-body.ts'
import { constantOf } from '../python/constants.ts'
import { type Expression, pathsOf } from '../python/expression.ts'
import type { Definition } from '../python/scope.ts'
import { type ClassShape, shapeOf } from './class-kind.ts'
import { constrain, describe } from './constraints.ts'
import { type FieldOptions, isWrappedIn, readFieldOptions } from './fields.ts'
import type { Schema } from './known-types.ts'
import { type ModelConfig, readModelConfig } from './model-config.ts'
import { toJson } from './to-json.ts'
import { type TypeContext, toTitle } from './type-context.ts'

/** Field as its class declares it. */
interface Field {
  name: string
  where: string
  annotation: Expression
  declared: FieldOptions
  shape: ClassShape
}

interface Property {
  schema: Schema
  required: boolean
}

/** Returns the object schema of a pydantic model, dataclass or TypedDict. */
export function modelSchema(
  definition: Definition,
  shape: ClassShape,
  context: TypeContext,
): Schema {
  const config = readModelConfig(definition, shape, context)
  const description = docstringOf(definition)
  const head: Schema = {
    ...(description ? { description } : {}),
    title: config.title ?? definition.name,
    type: 'object',
  }
  if (!config.rename) {
    context.note(definition.name, 'its alias generator is not known')
    return head
  }
  const properties = new Map<string, Property>()
  for (const field of fieldsOf(definition, shape, context).values()) {
    for (const [name, property] of toProperties(field, config, context)) {
      properties.set(name, property)
    }
  }
  const required = [...properties].filter(([, { required }]) => required).map(([name]) => name)
  return {
    ...head,
    properties: Object.fromEntries([...properties].map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 ? { required } : {}),
    ...(config.forbidsExtra ? { additionalProperties: false } : {}),
  }
}

/** Collects the fields of a class and its bases; a class overrides its bases. */
function fieldsOf(
  definition: Definition,
  shape: ClassShape,
  context: TypeContext,
): Map<string, Field> {
  const fields = new Map<string, Field>()
  for (const base of shape.bases.toReversed()) {
    const above = fieldShapeOf(base, context)
    for (const [name, field] of fieldsOf(base, above, context)) fields.set(name, field)
  }
  for (const attribute of attributesOf(definition)) {
    const field = fieldOf(definition, attribute, shape, context)
    if (field) fields.set(field.name, field)
  }
  return fields
}

/** Treats a base without a kind as a mixin of a model: other classes have no such bases. */
function fieldShapeOf(base: Definition, context: TypeContext): ClassShape {
  const shape = shapeOf(base, context)
  return typeof shape === 'object' ? shape : { kind: 'model', bases: [], options: new Map() }
}

function fieldOf(
  definition: Definition,
  { name, type, value }: Attribute,
  shape: ClassShape,
  context: TypeContext,
): Field | undefined {
  const isPrivate = shape.kind === 'model' && (name.startsWith('_') || name === 'model_config')
  if (!type || isPrivate) return undefined
  const annotation = context.inClassBody(definition, type)
  const stated = readFieldOptions(value && context.inClassBody(definition, value))
  if (isWrappedIn(annotation, 'ClassVar')) return undefined
  // Pydantic treats a `Final` with a default as a class constant.
  const isConstant = shape.kind === 'model' && stated.hasDefault && isWrappedIn(annotation, 'Final')
  if (isConstant) return undefined
  if (shape.kind === 'dataclass' && isNoArgument(annotation, stated)) return undefined
  return { name, where: `${definition.name}.${name}`, annotation, declared: stated, shape }
}

/** True for `_: KW_ONLY` and for fields with `init=False`. */
function isNoArgument(annotation: Expression, { options }: FieldOptions): boolean {
  const init = options.get('init')
  const inner = annotation.node.firstNamedChild ?? annotation.node
  const mark = pathsOf({ ...annotation, node: inner }).includes('dataclasses.KW_ONLY')
  return mark || (init !== undefined && constantOf(init) === false)
}

function toProperties(
  field: Field,
  config: ModelConfig,
  context: TypeContext,
): [string, Property][] {
  const { name, where, annotation } = field
  const { schema, stated } = context.readField(annotation, where)
  const options = new Map([...stated.options, ...field.declared.options])
  for (const reason of constrain(schema, field.declared.options)) {
    context.note(where, `its ${reason} is not checked`)
  }
  describe(schema, field.declared.options)
  const fallback = field.declared.default ?? stated.default
  const known = fallback && toJson(constantOf(fallback))
  if (known !== undefined) schema.default = known
  const names = namesOf(name, options, config)
  if (names.length === 0) {
    context.note(where, 'its alias is not a constant')
    config.forbidsExtra = false
  }
  if (names.length > 1) context.note(where, `it may be given as ${names.join(' or ')}`)
  const required = names.length === 1 && isRequired(field, stated)
  return names.map((property) => {
    const title = schema.title || refersTo(schema) ? {} : { title: toTitle(property) }
    return [property, { schema: { ...schema, ...title }, required }]
  })
}

/** True if the title comes from a shared definition, which may be nullable. */
function refersTo({ $ref, anyOf }: Schema): boolean {
  if (!Array.isArray(anyOf)) return Boolean($ref)
  const [only, ...others] = anyOf.filter(({ type }) => type !== 'null')
  return others.length === 0 && Boolean(only?.$ref)
}

function isRequired({ annotation, declared, shape }: Field, annotated: FieldOptions): boolean {
  if (shape.kind !== 'typed_dict') return !declared.hasDefault && !annotated.hasDefault
  if (isWrappedIn(annotation, 'Required')) return true
  const total = shape.options.get('total')
  return !isWrappedIn(annotation, 'NotRequired') && !(total && constantOf(total) === false)
}

/** Returns the JSON names of a field; empty if they are unknown. */
function namesOf(
  name: string,
  options: Map<string, Expression>,
  { rename, acceptsFieldNames }: ModelConfig,
): string[] {
  const alias = options.get('validation_alias') ?? options.get('alias')
  const known = alias ? constantOf(alias) : rename?.(name)
  if (typeof known !== 'string') return []
  return acceptsFieldNames && known !== name ? [known, name] : [known]
}
