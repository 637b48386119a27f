import type { Node } from 'web-tree-sitter'
import { syntaxFault } from './syntax-fault.ts'

const COMPLETE = /_(statement|definition|clause)$|^(comment|block)$/

/** Throws a syntax error for the first place that the parser could not read. */
export function checkTree(root: Node, source: string): void {
  if (!root.hasError) {
    checkTries(root, source)
    return
  }
  const wrong = findFirstError(root)
  throw syntaxFault(
    source,
    wrong.startIndex,
    wrong.isMissing ? `expected '${wrong.type}'` : 'invalid syntax',
  )
}

const TRY = /\btry\b/
const HANDLER = /^(except|except_group|finally)_clause$/

/** Rejects a `try` without handlers, which the grammar accepts. */
function checkTries(root: Node, source: string): void {
  if (!TRY.test(source)) return
  const alone = root
    .descendantsOfType('try_statement')
    .find((statement) => !statement?.namedChildren.some((child) => HANDLER.test(child.type)))
  if (alone) {
    throw syntaxFault(source, alone.startIndex, "expected 'except' or 'finally' block")
  }
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
