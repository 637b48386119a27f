import type { Node } from 'web-tree-sitter'
import { syntaxFault } from './syntax-fault.ts'

const COMPLETE = /_(statement|definition|clause)$|^(comment|block)$/

/** Throws a syntax error for the first place that the parser could not read. */
export function checkTree(root: Node, source: string): void {
  if (!root.hasError) return
  const wrong = findFirstError(root)
  throw syntaxFault(
    source,
    wrong.startIndex,
    wrong.isMissing ? `expected '${wrong.type}'` : 'invalid syntax',
  )
}

/**
 * Descends to the first incomplete part: an error node begins where its construct begins, not at
 * the error.
 */
function findFirstError(root: Node): Node {
  let node = root
  for (;;) {
    const wrong = node.children.find(
      (child) =>
        child.isMissing ||
        child.isError ||
        child.hasError ||
        (node.isError && !COMPLETE.test(child.type)),
    )
    if (!wrong) return node
    if (wrong.isMissing || !(wrong.isError || wrong.hasError)) return wrong
    node = wrong
  }
}
