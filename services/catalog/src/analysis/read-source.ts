import { analyse, type Declared } from '../domain/analysis.ts'
import { checkTree } from '../domain/python/errors.ts'
import { checkLayout } from '../domain/python/layout.ts'
import { decodeSource } from '../domain/python/text.ts'
import type { PythonParser } from './parser.ts'

/** The workflows of a source file; throws `invalid` for one that is no Python or declares none. */
export function readSource(
  bytes: Uint8Array,
  parser: PythonParser,
  sdkModules: string[],
): Declared[] {
  const source = decodeSource(bytes)
  checkLayout(source)
  try {
    const root = parser.parse(source)
    checkTree(root, source)
    return analyse(root, source, { sdkModules, parse: (text) => parseType(text, parser) })
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
