import { type DeclaredWorkflow, readWorkflows } from './declared-workflows.ts'
import type { PythonParser } from './parser.ts'
import { checkLayout } from './python/check-layout.ts'
import { checkTree } from './python/check-tree.ts'
import { decodeSource } from './python/decode-source.ts'

/** The workflows of a source file; throws `invalid` for one that is no Python or declares none. */
export function analyse(
  bytes: Uint8Array,
  parser: PythonParser,
  sdkModules: string[],
): DeclaredWorkflow[] {
  const source = decodeSource(bytes)
  checkLayout(source)
  try {
    const root = parser.parse(source)
    checkTree(root, source)
    return readWorkflows(root, source, { sdkModules, parse: (text) => parseType(text, parser) })
  } finally {
    parser.release()
  }
}

function parseType(text: string, parser: PythonParser) {
  const root = parser.parse(text.trim())
  const [statement, ...others] = root.namedChildren
  const isOne = !root.hasError && statement?.type === 'expression_statement' && others.length === 0
  return isOne ? (statement.firstNamedChild ?? undefined) : undefined
}
