/** Nodes from the root of a tree to one of its leaves, each with its field in the node before it. */
export type Path = { type: string; field: string | null }[]

/**
 * How a name is used at one place. `annotation` is read unless annotations are not evaluated,
 * `variable_annotation` unless it is inside of a function too.
 */
export type NameUse = 'bind' | 'read' | 'none' | 'annotation' | 'variable_annotation'

/** Nodes between a name and the construct that binds it. */
const PATTERN = new Set(
  `pattern_list tuple_pattern list_pattern list_splat_pattern dictionary_splat_pattern typed_parameter
  as_pattern_target parenthesized_expression expression_list tuple list`.split(/\s+/),
)
/** Constructs that bind every name directly in them. */
const BINDS = new Set(
  `import_statement import_from_statement future_import_statement parameters lambda_parameters
  global_statement nonlocal_statement delete_statement splat_pattern case_pattern dict_pattern
  union_pattern keyword_pattern`.split(/\s+/),
)
/** Constructs that bind the names in one of their fields. */
const FIELDS = new Map([
  ['assignment', 'left'],
  ['augmented_assignment', 'left'],
  ['for_statement', 'left'],
  ['for_in_clause', 'left'],
  ['type_alias_statement', 'left'],
  ['named_expression', 'name'],
  ['function_definition', 'name'],
  ['class_definition', 'name'],
  ['default_parameter', 'name'],
  ['typed_default_parameter', 'name'],
  ['aliased_import', 'alias'],
  ['except_clause', 'alias'],
  ['as_pattern', 'alias'],
])
/** Nodes that a type consists of. */
const TYPE = new Set(
  'type generic_type type_parameter union_type constrained_type splat_type member_type'.split(' '),
)

/**
 * Tells how the identifier at the end of a path is used; `typeAt`: index of the innermost type around it.
 * Doubtful constructs count as bindings.
 */
export function useOf(path: Path, typeAt: number | undefined): NameUse {
  let at = path.length - 1
  const type = (): string => path[at - 1]?.type ?? ''
  if (type() === 'keyword_argument' && path[at]?.field === 'name') return 'none'
  if (type() === 'dotted_name') at--
  while (PATTERN.has(type())) at--
  const field = path[at]?.field
  if (isModule(type(), field)) return 'none'
  if (type() === 'as_pattern' && path[at - 2]?.type === 'case_pattern') return 'bind'
  if (BINDS.has(type()) || FIELDS.get(type()) === field) return 'bind'
  return typeAt === undefined ? 'read' : useInType(path, typeAt)
}

/** In `from a import b` and `import a as b`, only `b` is bound. */
const isModule = (parent: string, field: string | null | undefined): boolean =>
  field === 'module_name' ||
  parent === 'relative_import' ||
  (parent === 'aliased_import' && field === 'name')

/** Type parameters and aliases bind names; annotations need not be evaluated. */
function useInType(path: Path, typeAt: number): NameUse {
  let at = typeAt
  while (TYPE.has(path[at - 1]?.type ?? '')) at--
  if (path[at]?.type === 'type_parameter') return 'bind'
  const owner = path[at - 1]?.type
  if (owner === 'type_alias_statement') return path[at]?.field === 'left' ? 'bind' : 'none'
  return owner === 'assignment' ? 'variable_annotation' : 'annotation'
}
