import type { Node } from 'web-tree-sitter'
import { nameOf } from '../python/scope.ts'
import type { CompileContext } from './compile-scope.ts'
import type { RuleHandlers, Visit } from './rule-walk.ts'
import { partsOf } from './targets.ts'

/** Order and names of the arguments of calls and class definitions. */
export function callRules(context: CompileContext): RuleHandlers {
  /** Depths of the lists around the current node that need a check. */
  const lists = new Set<number>()
  const addList = (visit: Visit) => {
    if (visit.parent === 'argument_list') lists.add(visit.depth - 1)
  }
  return {
    enter: { keyword_argument: addList, dictionary_splat: addList },
    leave: {
      argument_list: (visit) => {
        if (lists.delete(visit.depth)) checkArguments(context, visit.node)
      },
    },
  }
}

function checkArguments(context: CompileContext, list: Node): void {
  const names = new Set<string>()
  let unpacksKeywords = false
  for (const argument of partsOf(list)) {
    if (argument.type === 'keyword_argument') addName(context, argument, names)
    else if (argument.type === 'dictionary_splat') unpacksKeywords = true
    else checkPosition(context, argument, { hasKeywords: names.size > 0, unpacksKeywords })
  }
}

function addName({ refuse }: CompileContext, argument: Node, names: Set<string>): void {
  const name = nameOf(argument.childForFieldName('name') ?? argument)
  if (names.has(name)) refuse(argument.startIndex, `keyword argument repeated: ${name}`)
  names.add(name)
}

/** Checks that a positional argument or `*value` may follow the arguments before it. */
function checkPosition(
  { refuse }: CompileContext,
  { type, startIndex }: Node,
  before: { hasKeywords: boolean; unpacksKeywords: boolean },
): void {
  const isUnpacked = type === 'list_splat'
  if (before.unpacksKeywords) {
    const what = isUnpacked ? 'iterable argument unpacking' : 'positional argument'
    refuse(startIndex, `${what} follows keyword argument unpacking`)
  }
  if (before.hasKeywords && !isUnpacked)
    refuse(startIndex, 'positional argument follows keyword argument')
}
