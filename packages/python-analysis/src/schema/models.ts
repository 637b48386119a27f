import { type Attribute, attributesOf, docOf } from '../python/class-body.ts'
import { constantOf } from '../python/constants.ts'
import { type Expression, pathsOf } from '../python/expression.ts'
import type { Definition } from '../python/scope.ts'
import { type ClassShape, shapeOf } from './class-kind.ts'
import { constrain, describe } from './constraints.ts'
import { type FieldOptions, fieldOptions, isWrappedIn } from './fields.ts'
import type { Schema } from './known-types.ts'
import { configOf, type ModelConfig } from './model-config.ts'
import { jsonOf } from './to-json.ts'
import { type Types, titleOf } from './type-context.ts'

/** A field as its class states it. */
interface Field {
  name: string
  where: string
  annotation: Expression
  said: FieldOptions
  shape: ClassShape
}

interface Property {
  schema: Schema
  required: boolean
}

/** The object that a pydantic model, dataclass or TypedDict is in JSON. */
export function modelSchema(definition: Definition, shape: ClassShape, types: Types): Schema {
  const config = configOf(definition, shape, types)
  const description = docOf(definition)
  const head: Schema = {
    ...(description ? { description } : {}),
    title: config.title ?? definition.name,
    type: 'object',
  }
  if (!config.rename) {
    types.note(definition.name, 'its alias generator is not known')
    return head
  }
  const properties = new Map<string, Property>()
  for (const field of fieldsOf(definition, shape, types).values()) {
    for (const [name, property] of propertiesOf(field, config, types)) {
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

/** The fields of a class and its bases; what a class states again replaces what its base says. */
function fieldsOf(definition: Definition, shape: ClassShape, types: Types): Map<string, Field> {
  const fields = new Map<string, Field>()
  for (const base of shape.bases.toReversed()) {
    const above = fieldShapeOf(base, types)
    for (const [name, field] of fieldsOf(base, above, types)) fields.set(name, field)
  }
  for (const attribute of attributesOf(definition)) {
    const field = fieldOf(definition, attribute, shape, types)
    if (field) fields.set(field.name, field)
  }
  return fields
}

/** A base without a kind of its own is a mixin of a model, or it would not be among its bases. */
function fieldShapeOf(base: Definition, types: Types): ClassShape {
  const shape = shapeOf(base, types)
  return typeof shape === 'object' ? shape : { kind: 'model', bases: [], options: new Map() }
}

function fieldOf(
  definition: Definition,
  { name, type, value }: Attribute,
  shape: ClassShape,
  types: Types,
): Field | undefined {
  const isPrivate = shape.kind === 'model' && (name.startsWith('_') || name === 'model_config')
  if (!type || isPrivate) return undefined
  const annotation = types.inside(definition, type)
  const said = fieldOptions(value && types.inside(definition, value))
  if (isWrappedIn(annotation, 'ClassVar')) return undefined
  // To pydantic a constant of the class.
  const isConstant = shape.kind === 'model' && said.hasDefault && isWrappedIn(annotation, 'Final')
  if (isConstant) return undefined
  if (shape.kind === 'dataclass' && isNoArgument(annotation, said)) return undefined
  return { name, where: `${definition.name}.${name}`, annotation, said, shape }
}

/** `_: KW_ONLY`, and fields that only the dataclass itself sets. */
function isNoArgument(annotation: Expression, { options }: FieldOptions): boolean {
  const init = options.get('init')
  const inner = annotation.node.firstNamedChild ?? annotation.node
  const mark = pathsOf({ ...annotation, node: inner }).includes('dataclasses.KW_ONLY')
  return mark || (init !== undefined && constantOf(init) === false)
}

function propertiesOf(field: Field, config: ModelConfig, types: Types): [string, Property][] {
  const { name, where, annotation } = field
  const { schema, said } = types.readField(annotation, where)
  const options = new Map([...said.options, ...field.said.options])
  for (const reason of constrain(schema, field.said.options)) {
    types.note(where, `its ${reason} is not checked`)
  }
  describe(schema, field.said.options)
  const fallback = field.said.default ?? said.default
  const known = fallback && jsonOf(constantOf(fallback))
  if (known !== undefined) schema.default = known
  const names = namesOf(name, options, config)
  if (names.length === 0) {
    types.note(where, 'its alias is not a constant')
    config.forbidsExtra = false
  }
  if (names.length > 1) types.note(where, `it may be given as ${names.join(' or ')}`)
  const required = names.length === 1 && isRequired(field, said)
  return names.map((property) => {
    const title = schema.title || refersTo(schema) ? {} : { title: titleOf(property) }
    return [property, { schema: { ...schema, ...title }, required }]
  })
}

/** What is shared has the title of its own class. */
const refersTo = ({ $ref, anyOf }: Schema): boolean =>
  Boolean($ref) || (Array.isArray(anyOf) && anyOf.some((alternative) => alternative.$ref))

function isRequired({ annotation, said, shape }: Field, annotated: FieldOptions): boolean {
  if (shape.kind !== 'typed_dict') return !said.hasDefault && !annotated.hasDefault
  if (isWrappedIn(annotation, 'Required')) return true
  const total = shape.options.get('total')
  return !isWrappedIn(annotation, 'NotRequired') && !(total && constantOf(total) === false)
}

/** What a field is called in JSON; nothing when that is not known. */
function namesOf(
  name: string,
  options: Map<string, Expression>,
  { rename, byName }: ModelConfig,
): string[] {
  const alias = options.get('validation_alias') ?? options.get('alias')
  const known = alias ? constantOf(alias) : rename?.(name)
  if (typeof known !== 'string') return []
  return byName && known !== name ? [known, name] : [known]
}
