import type { Node } from 'web-tree-sitter'
import type { CompileContext } from './compile-scope.ts'
import type { RuleHandlers } from './rule-walk.ts'

const FEATURES = new Set(
  `nested_scopes generators division absolute_import with_statement print_function unicode_literals
  barry_as_FLUFL generator_stop annotations`.split(/\s+/),
)

/** A module of this name in a package, which Python 3.11 and 3.12 take for the real one. */
const RELATIVE_FUTURE = /^from\s*[.]+\s*__future__\b/

/** `from __future__ import …`: known features, before all other code except the docstring. */
export function futureRules({ source, refuse }: CompileContext, root: Node): RuleHandlers {
  if (!source.includes('__future__')) return {}
  const end = endOfFutureImports(root)
  return {
    enter: {
      future_import_statement: ({ at, node }) => {
        if (at >= end) refuse(at, 'from __future__ imports must occur at the beginning of the file')
        for (const imported of node.childrenForFieldName('name')) {
          const name = (imported.childForFieldName('name') ?? imported).text
          if (name === 'braces') refuse(imported.startIndex, 'not a chance')
          if (!FEATURES.has(name))
            refuse(imported.startIndex, `future feature ${name} is not defined`)
        }
      },
    },
  }
}

/** Returns the position of the first statement after which no future import may follow. */
function endOfFutureImports(root: Node): number {
  const cursor = root.walk()
  try {
    let isInside = cursor.gotoFirstChild()
    let mayBeDocstring = true
    while (isInside && isBeforeCode(cursor.currentNode, mayBeDocstring)) {
      mayBeDocstring &&= /^(comment|line_continuation)$/.test(cursor.nodeType)
      isInside = cursor.gotoNextSibling()
    }
    return isInside ? cursor.startIndex : root.endIndex
  } finally {
    cursor.delete()
  }
}

function isBeforeCode(node: Node, mayBeDocstring: boolean): boolean {
  if (node.type === 'import_from_statement') return RELATIVE_FUTURE.test(node.text)
  if (node.type !== 'expression_statement')
    return /^(future_import_statement|comment|line_continuation|;)$/.test(node.type)
  const value = mayBeDocstring && node.childCount === 1 ? node.firstChild : undefined
  return /string$/.test(value?.type ?? '') && !/^r?[bft]/i.test(value?.text ?? '')
}
