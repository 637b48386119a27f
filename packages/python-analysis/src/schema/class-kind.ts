import type { Node } from 'web-tree-sitter'
import { calleeOf, type Expression, followNames, pathsOf } from '../python/expression.ts'
import type { Definition } from '../python/scope.ts'
import type { TypeContext } from './type-context.ts'
import { classOf, subscriptOf } from './type-expression.ts'

/** Kind of a class, as far as its JSON representation is concerned. */
export type ClassKind = 'model' | 'root_model' | 'dataclass' | 'typed_dict' | 'enum'

export interface ClassShape {
  kind: ClassKind
  /** Base classes that are defined in the source. */
  bases: Definition[]
  /** Keyword arguments of the class statement: `extra="forbid"`, `total=False`. */
  options: Map<string, Expression>
}

const MAX_BASES_DEEP = 32
const KINDS = new Map<string, ClassKind>(
  Object.entries({
    'pydantic.BaseModel': 'model',
    'pydantic.main.BaseModel': 'model',
    'pydantic.RootModel': 'root_model',
    'pydantic.root_model.RootModel': 'root_model',
    'typing.TypedDict': 'typed_dict',
    'typing_extensions.TypedDict': 'typed_dict',
    'enum.Enum': 'enum',
    'enum.IntEnum': 'enum',
    'enum.StrEnum': 'enum',
  }),
)
/** Base classes that add no fields. */
const NEUTRAL = new Set(
  (
    'builtins.object builtins.str builtins.int builtins.float abc.ABC typing.Generic ' +
    'typing.Protocol typing_extensions.Generic'
  ).split(' '),
)
const DATACLASSES = new Set(['dataclasses.dataclass', 'pydantic.dataclasses.dataclass'])

const NO_KIND = 'it is no dataclass, TypedDict, enumeration or pydantic model'

/** Returns the kind of a class, or the reason why it is unknown. */
export function shapeOf(
  definition: Definition,
  context: TypeContext,
  deep = 0,
): ClassShape | string {
  const { bases, options } = readHead(definition, context)
  const judged = bases.map((base) => readBase(subscriptOf(base)?.base ?? base, context, deep))
  const unknown = judged.find((base) => typeof base === 'string')
  if (typeof unknown === 'string') return unknown
  const known = judged.filter((base) => typeof base === 'object')
  const kind = isDataclass(definition, context)
    ? 'dataclass'
    : known.map((base) => base.inherited).find(Boolean)
  if (!kind) return NO_KIND
  return { kind, bases: known.flatMap(({ local, mixin }) => basesOf(kind, local, mixin)), options }
}

/**
 * Returns the base that adds fields. Pydantic reads annotations of every base; dataclasses and
 * TypedDicts do not.
 */
function basesOf(kind: ClassKind, local?: Definition, mixin?: Definition): Definition[] {
  const base = local ?? (kind === 'model' ? mixin : undefined)
  return base ? [base] : []
}

interface Base {
  /** Kind that a class inherits from it. A dataclass needs its own decorator. */
  inherited?: ClassKind | undefined
  local?: Definition
  /** Base of no kind. */
  mixin?: Definition
}

/** Returns the contribution of a base, or the reason why it is unknown. */
function readBase(base: Expression, context: TypeContext, deep: number): Base | string {
  const local = classOf(base)
  if (!local) {
    const paths = pathsOf(base)
    const inherited = paths.map((path) => KINDS.get(path)).find(Boolean)
    if (inherited || paths.some((path) => NEUTRAL.has(path))) return { inherited }
    return `the base class '${base.node.text.slice(0, 60)}' is not defined in the source`
  }
  const shape = deep < MAX_BASES_DEEP ? shapeOf(local, context, deep + 1) : 'too many bases'
  if (typeof shape === 'string') return shape === NO_KIND ? { mixin: local } : shape
  return { local, inherited: shape.kind === 'dataclass' ? undefined : shape.kind }
}

function readHead(definition: Definition, context: TypeContext) {
  const bases: Expression[] = []
  const options = new Map<string, Expression>()
  const given = definition.node.childForFieldName('superclasses')?.namedChildren ?? []
  for (const child of given) {
    const name = child.childForFieldName('name')
    const value = child.childForFieldName('value')
    const isOption = child.type === 'keyword_argument' && name && value
    if (isOption) options.set(name.text, outsideClass(definition, value, context))
    else if (child.type !== 'comment') bases.push(outsideClass(definition, child, context))
  }
  return { bases, options }
}

/** Evaluates bases and decorators in the scope around the class, not inside it. */
const outsideClass = (definition: Definition, node: Node, context: TypeContext): Expression => ({
  ...context.inClassBody(definition, node),
  scope: definition.scope,
})

function isDataclass(definition: Definition, context: TypeContext): boolean {
  return definition.decorators.some((decorator) => {
    const node = decorator.firstNamedChild
    if (!node) return false
    const mark = followNames(outsideClass(definition, node, context))
    return pathsOf(calleeOf(mark) ?? mark).some((path) => DATACLASSES.has(path))
  })
}
