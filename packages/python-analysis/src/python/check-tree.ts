import type { Node } from 'web-tree-sitter'
import { syntaxFault } from './syntax-fault.ts'

const COMPLETE = /_(statement|definition|clause)$|^(comment|block)$/

/** Refuses a tree in which the parser met what is no Python, at the first such place. */
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

/** The grammar lets a `try` stand alone, which Python does not. */
function checkTries(root: Node, source: string): void {
  if (!TRY.test(source)) return
  const alone = root
    .descendantsOfType('try_statement')
    .find((statement) => !statement?.namedChildren.some((child) => HANDLER.test(child.type)))
  if (alone) {
    throw syntaxFault(source, alone.startIndex, "expected 'except' or 'finally' block")
  }
}

/** An error node begins where its construct does; what is wrong is its first part that is not complete. */
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
