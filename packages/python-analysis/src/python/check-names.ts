import type { Node } from 'web-tree-sitter'
import { BUILT_IN } from './builtins.ts'
import { type NameUse, useOf } from './name-use.ts'
import { NameWalk } from './name-walk.ts'
import type { OccurringNames } from './occurring-names.ts'
import { sourceFault } from './syntax-fault.ts'

/** Code that uses these may bind any name, or expects that names are missing. */
const DYNAMIC = ['globals', 'locals', 'exec', 'vars', 'builtins', '__builtins__', 'NameError']
/** Mutations of a module by its object, and of the module of an enum. */
const DYNAMIC_ATTRIBUTES = /\.\s*(modules|__dict__|__builtins__|_convert_?)\b/
/** Dunder names belong to the module, the class or the interpreter. */
const DUNDER = /^__\w+__$/u

interface Occurrence {
  name: string
  at: number
}

/**
 * Refuses a name that is used but that nothing in the source binds, in any scope: neither defined, assigned
 * nor imported. Which scope a name belongs to is not compared: a source that runs is refused only for a name
 * in code that it never reaches.
 *
 * The layout check has excluded most names already (`OccurringNames`). The places of the others are looked up
 * in one walk over the tree, which visits each node at most once: `Node.parent` searches from the root, which
 * is quadratic for `a.b.c…`.
 */
export function checkNames(root: Node, source: string, names: OccurringNames): void {
  if (names.hasStarImport || DYNAMIC.some((name) => names.has(name))) return
  const doubtful = [...names.positions].filter(
    ([name]) => !BUILT_IN.has(name) && !DUNDER.test(name),
  )
  if (doubtful.length === 0 || DYNAMIC_ATTRIBUTES.test(source)) return
  const occurrences = doubtful.flatMap(([name, places]) => places.map((at) => ({ name, at })))
  occurrences.sort((one, other) => one.at - other.at)
  const unbound = findUnbound(root, occurrences, !names.has('__future__'))
  if (!unbound) return
  const reason = `'${unbound.name}' is neither defined nor imported`
  throw sourceFault(source, unbound.at, { kind: 'Unknown name', reason })
}

/** Returns the first read of a name that none of its occurrences binds. */
function findUnbound(
  root: Node,
  occurrences: readonly Occurrence[],
  evaluatesAnnotations: boolean,
): Occurrence | undefined {
  const walk = new NameWalk(root)
  const bound = new Set<string>()
  const reads: Occurrence[] = []
  try {
    for (const occurrence of occurrences) {
      if (bound.has(occurrence.name)) continue
      const use = walk.descendTo(occurrence.at) ? useAt(walk, evaluatesAnnotations) : 'none'
      if (use === 'bind') bound.add(occurrence.name)
      if (use === 'read') reads.push(occurrence)
    }
  } finally {
    walk.end()
  }
  return reads.find(({ name }) => !bound.has(name))
}

/** Annotations are not evaluated after `from __future__ import annotations`, nor those of local variables. */
function useAt(walk: NameWalk, evaluatesAnnotations: boolean): NameUse {
  const use = useOf(walk.path, walk.types.at(-1))
  if (use === 'annotation') return evaluatesAnnotations ? 'read' : 'none'
  if (use === 'variable_annotation')
    return evaluatesAnnotations && walk.functions === 0 ? 'read' : 'none'
  return use
}
