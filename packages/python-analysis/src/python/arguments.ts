import type { Node } from 'web-tree-sitter'
import { childOf, type Expression, followNames } from './expression.ts'
import { nameOf } from './scope.ts'
import { stringValue } from './strings.ts'

/** Arguments of a call. */
export interface Arguments {
  positional: Expression[]
  keywords: Map<string, Expression>
  /** True if some are unpacked from a value that is unknown here. */
  isIncomplete: boolean
}

export const noArguments = (): Arguments => ({
  positional: [],
  keywords: new Map(),
  isIncomplete: false,
})

/** Reads the arguments of a call. `**options` is followed if it names a dictionary of the source. */
export function argumentsOf(call: Expression): Arguments {
  const found = noArguments()
  for (const child of call.node.childForFieldName('arguments')?.namedChildren ?? []) {
    if (child.type === 'keyword_argument') addPair(found, call, child)
    else if (child.type === 'dictionary_splat') addSplat(found, call, child)
    else if (child.type === 'list_splat') found.isIncomplete = true
    else if (child.type !== 'comment') found.positional.push(childOf(call, child))
  }
  return found
}

function addPair(found: Arguments, call: Expression, argument: Node): void {
  const name = argument.childForFieldName('name')
  const value = argument.childForFieldName('value')
  if (name && value) found.keywords.set(nameOf(name), childOf(call, value))
}

function addSplat(found: Arguments, call: Expression, splat: Node): void {
  const inner = splat.firstNamedChild
  const dictionary = inner ? followNames(childOf(call, inner)) : undefined
  if (dictionary?.node.type !== 'dictionary') {
    found.isIncomplete = true
    return
  }
  for (const pair of dictionary.node.namedChildren) {
    const key = pair.childForFieldName('key')
    const value = pair.childForFieldName('value')
    const name = key?.type === 'string' ? stringValue(key) : undefined
    if (name !== undefined && value) found.keywords.set(name, childOf(dictionary, value))
    else if (pair.type !== 'comment') found.isIncomplete = true
  }
}
