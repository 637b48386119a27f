import { argumentsOf } from '../python/arguments.ts'
import { attributesOf } from '../python/class-body.ts'
import { constantOf } from '../python/constants.ts'
import { childOf, type Expression, pathsOf, unwrap } from '../python/expression.ts'
import { bindingsIn, type Definition } from '../python/scope.ts'
import { stringValue } from '../python/strings.ts'
import { type ClassShape, shapeOf } from './class-kind.ts'
import type { TypeContext } from './type-context.ts'

/** Configuration of a pydantic model that changes its JSON representation. */
export interface ModelConfig {
  forbidsExtra: boolean
  /** True if a field with an alias is accepted under its own name too. */
  acceptsFieldNames: boolean
  title: string | undefined
  /** Name of fields without an alias; undefined if it is unknown. */
  rename: ((name: string) => string) | undefined
}

const GENERATORS = new Map<string, (name: string) => string>(
  Object.entries({
    to_camel: (name: string) => lowerFirst(pascal(name)),
    to_pascal: pascal,
    to_snake: (name: string) =>
      name
        .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
        .replaceAll('-', '_')
        .toLowerCase(),
  }),
)

function pascal(name: string): string {
  return name.replace(/(?:^|_)+([a-z0-9])/g, (_, first: string) => first.toUpperCase())
}

const lowerFirst = (name: string) => `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`

/**
 * Reads the configuration of a class: of its bases, its `model_config` or `class Config`, its
 * keywords.
 */
export function readModelConfig(
  definition: Definition,
  shape: ClassShape,
  context: TypeContext,
): ModelConfig {
  const options = optionsOf(definition, shape, context)
  const known = (name: string) => {
    const value = options.get(name)
    return value && constantOf(value)
  }
  for (const name of ['str_min_length', 'str_max_length'])
    if (options.has(name)) context.note(definition.name, `its ${name} is not checked`)
  const extra = options.get('extra')
  const title = known('title')
  return {
    forbidsExtra: known('extra') === 'forbid' || /\.forbid$/.test(extra?.node.text ?? ''),
    acceptsFieldNames: [
      'populate_by_name',
      'validate_by_name',
      'allow_population_by_field_name',
    ].some((name) => known(name) === true),
    title: typeof title === 'string' ? title : undefined,
    rename: readAliasGenerator(options.get('alias_generator')),
  }
}

function optionsOf(
  definition: Definition,
  shape: ClassShape,
  context: TypeContext,
): Map<string, Expression> {
  if (shape.kind !== 'model') return new Map()
  const inherited = shape.bases.toReversed().flatMap((base) => {
    const above = shapeOf(base, context)
    return typeof above === 'object' ? [...optionsOf(base, above, context)] : []
  })
  return new Map([...inherited, ...ownOptions(definition, context), ...shape.options])
}

function ownOptions(definition: Definition, context: TypeContext): Map<string, Expression> {
  const old = bindingsIn(definition.body, 'Config')?.at(-1)
  if (old?.kind === 'definition') {
    return new Map(
      attributesOf(old.definition).flatMap(({ name, value }): [string, Expression][] =>
        value ? [[name, context.inClassBody(old.definition, value)]] : [],
      ),
    )
  }
  const value = attributesOf(definition).find(({ name }) => name === 'model_config')?.value
  if (!value) return new Map()
  const config = unwrap(context.inClassBody(definition, value))
  if (config.node.type !== 'dictionary') return argumentsOf(config).keywords
  return new Map(
    config.node.namedChildren.flatMap((pair): [string, Expression][] => {
      const [key, item] = [pair.childForFieldName('key'), pair.childForFieldName('value')]
      const name = key?.type === 'string' ? stringValue(key) : undefined
      return name !== undefined && item ? [[name, childOf(config, item)]] : []
    }),
  )
}

function readAliasGenerator(generator: Expression | undefined): ModelConfig['rename'] {
  if (!generator || constantOf(generator) === null) return (name) => name
  const path = pathsOf(unwrap(generator)).find((path) => path.startsWith('pydantic.'))
  return path ? GENERATORS.get(path.slice(path.lastIndexOf('.') + 1)) : undefined
}
