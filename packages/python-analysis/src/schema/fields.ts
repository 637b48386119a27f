import { argumentsOf } from '../python/arguments.ts'
import { constantOf } from '../python/constants.ts'
import { calledPaths, type Expression, pathsOf, unwrap } from '../python/expression.ts'
import { knownName } from './known-types.ts'
import { subscriptOf } from './type-expression.ts'

/** Facts about a field besides its type. */
export interface FieldOptions {
  options: Map<string, Expression>
  /** True if the field is optional. */
  hasDefault: boolean
  default?: Expression
}

const FIELD_CALLS = new Set(['pydantic.Field', 'pydantic.fields.Field', 'dataclasses.field'])
/** Calls in `Annotated` that correspond to keyword arguments of `Field`. */
const METADATA = new Map<string, string[]>(
  Object.entries({
    'annotated_types.Gt': ['gt'],
    'annotated_types.Ge': ['ge'],
    'annotated_types.Lt': ['lt'],
    'annotated_types.Le': ['le'],
    'annotated_types.Interval': [],
    'annotated_types.MultipleOf': ['multiple_of'],
    'annotated_types.MinLen': ['min_length'],
    'annotated_types.MaxLen': ['max_length'],
    'annotated_types.Len': ['min_length', 'max_length'],
    'pydantic.StringConstraints': [],
    'pydantic.types.StringConstraints': [],
  }),
)

/** Reads `= Field(…)`, `= field(…)` or a plain default. */
export function readFieldOptions(value: Expression | undefined): FieldOptions {
  const options = new Map<string, Expression>()
  if (!value) return { options, hasDefault: false }
  const here = unwrap(value)
  const given = isField(here) ? argumentsOf(here) : undefined
  if (!given) return { options, ...readDefault(here) }
  const { positional, keywords } = given
  const fallback = keywords.get('default') ?? positional[0]
  if (fallback) return { options: keywords, ...readDefault(unwrap(fallback)) }
  return { options: keywords, hasDefault: keywords.has('default_factory') }
}

function readDefault(value: Expression): Pick<FieldOptions, 'hasDefault' | 'default'> {
  // In pydantic `...` means "required".
  return value.node.type === 'ellipsis'
    ? { hasDefault: false }
    : { hasDefault: true, default: value }
}

const isField = (value: Expression): boolean =>
  calledPaths(value).some((path) => FIELD_CALLS.has(path))

/** Reads the options that one item of `Annotated[type, item, …]` adds; undefined for other items. */
export function readMetadataOptions(item: Expression): FieldOptions | undefined {
  const here = unwrap(item)
  if (isField(here)) return readFieldOptions(here)
  const names = calledPaths(here)
    .map((path) => METADATA.get(path))
    .find(Boolean)
  if (!names) return undefined
  const { positional, keywords } = argumentsOf(here)
  const options = new Map(keywords)
  for (const [i, name] of names.entries()) {
    const value = positional[i]
    if (value && constantOf(value) !== null) options.set(name, value)
  }
  return { options, hasDefault: false }
}

/**
 * True if a type is wrapped in this qualifier of typing at any depth: `Annotated[Required[int],
 * …]`.
 */
export function isWrappedIn(type: Expression, word: string): boolean {
  let here = unwrap(type)
  for (let depth = 0; depth < 8; depth++) {
    const subscript = subscriptOf(here)
    const name = lastName(subscript?.base ?? here)
    if (name === word) return true
    const [inner] = subscript?.args ?? []
    if (!inner || !/^(Annotated|Required|NotRequired|ReadOnly|Final|ClassVar)$/.test(name)) break
    here = inner
  }
  return false
}

const lastName = (expression: Expression): string => knownName(pathsOf(expression)) ?? ''
