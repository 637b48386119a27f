import type { Node } from 'web-tree-sitter'
import { type Path, useOf } from '../python/name-use.ts'
import { NameWalk } from '../python/name-walk.ts'
import type { CompileContext } from './compile-scope.ts'
import { NameScopes, type NameUseInScope } from './name-scopes.ts'

const DECLARATION = /\b(global|nonlocal)\b((?:\\\n|[^\n;#])+)/g
const WORD = /[\p{L}\p{N}\p{M}_]+/gu
const AFTER_DOT = /\.\s*$/
const ANNOTATION = /\s*:(?!=)/y

/**
 * Checks names that `global` and `nonlocal` declare, and `__debug__`. Few sources contain any, and few of their
 * names are declared, so only the places of these names are looked at, in a walk of its own.
 */
export function checkDeclaredNames(context: CompileContext, root: Node): void {
  const names = declaredNames(context.source)
  if (names.size === 0) return
  const scopes = new NameScopes(context)
  const walk = new NameWalk(root, scopes)
  try {
    for (const { 0: word, index: at } of context.source.matchAll(WORD)) {
      const name = normalize(word)
      if (names.has(name) && walk.descendTo(at)) addOccurrence(context, walk, scopes, { name, at })
    }
  } finally {
    walk.end()
  }
  scopes.resolveNonlocals()
}

const normalize = (word: string): string =>
  /^[\x21-\x7e]+$/.test(word) ? word : word.normalize('NFKC')

function declaredNames(source: string): Set<string> {
  const names = new Set<string>()
  if (source.includes('__debug__')) names.add('__debug__')
  for (const [, , list = ''] of source.matchAll(DECLARATION)) {
    for (const [word] of list.matchAll(WORD)) names.add(normalize(word))
  }
  return names
}

function addOccurrence(
  context: CompileContext,
  walk: NameWalk,
  scopes: NameScopes,
  { name, at }: { name: string; at: number },
): void {
  const { source } = context
  if (name === '__debug__') checkDebug(context, walk.path, at)
  else if (walk.types.length === 0 && !isMember(source, walk.path, at)) {
    const use = useIn(source, walk.path, at + name.length)
    if (use) scopes.add({ name, at, use })
  }
}

/** True for `b` in `a.b`. */
function isMember(source: string, path: Path, at: number): boolean {
  if (path.at(-2)?.type === 'attribute') return path.at(-1)?.field === 'attribute'
  const isDotted = path.at(-2)?.type === 'dotted_name'
  return isDotted && AFTER_DOT.test(source.slice(Math.max(0, at - 20), at))
}

/** Returns how the name at the end of a path is used; undefined if it is no variable. */
function useIn(source: string, path: Path, end: number): NameUseInScope | undefined {
  const parent = path.at(-2)?.type
  if (parent === 'global_statement') return 'global'
  if (parent === 'nonlocal_statement') return 'nonlocal'
  // The name of an attribute: a captured name is in a node of its own.
  if (parent === 'keyword_pattern') return undefined
  const use = useOf(path, undefined)
  if (use === 'none') return undefined
  if (use === 'read') return 'read'
  if (isImported(path)) return 'import'
  if (parent === 'named_expression') return 'assign_expression'
  ANNOTATION.lastIndex = end
  if (parent === 'assignment' && ANNOTATION.test(source)) return 'annotate'
  return isParameter(path) ? 'parameter' : 'bind'
}

/** True for the name that an import binds, of which CPython allows a declaration after it. */
const isImported = (path: Path): boolean =>
  path
    .slice(-4, -1)
    .some(({ type }) => type.endsWith('import_statement') || type === 'import_from_statement')

/** True if the construct that binds the name is a list of parameters. */
function isParameter(path: Path): boolean {
  const within = path.findLast(({ type }) => !PARAMETER.test(type))?.type ?? ''
  return within === 'parameters' || within === 'lambda_parameters'
}

const PARAMETER =
  /^(identifier|(typed_|default_|typed_default_)parameter|(list|dictionary)_splat_pattern|tuple_pattern)$/

function checkDebug({ refuse }: CompileContext, path: Path, at: number): void {
  if (isBoundHere(path)) {
    const isDeleted = path.some(({ type }) => type === 'delete_statement')
    refuse(at, `cannot ${isDeleted ? 'delete' : 'assign to'} __debug__`)
  }
}

/** True for a name or an attribute that is bound, and for the name of an argument. */
function isBoundHere(path: Path): boolean {
  const [around, parent, name] = path.slice(-3)
  if (parent?.type === 'keyword_argument') return name?.field === 'name'
  if (parent?.type !== 'attribute') return useOf(path, undefined) === 'bind'
  const isAssigned = /^(augmented_)?assignment$/.test(around?.type ?? '') && parent.field === 'left'
  return name?.field === 'attribute' && isAssigned
}
