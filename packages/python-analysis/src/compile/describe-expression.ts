import type { Node } from 'web-tree-sitter'

const DESCRIPTIONS: Record<string, string> = {
  call: 'function call',
  lambda: 'lambda',
  true: 'True',
  false: 'False',
  none: 'None',
  ellipsis: 'ellipsis',
  string: 'literal',
  concatenated_string: 'literal',
  integer: 'literal',
  float: 'literal',
  await: 'await expression',
  yield: 'yield expression',
  generator_expression: 'generator expression',
  list_comprehension: 'list comprehension',
  set_comprehension: 'set comprehension',
  dictionary_comprehension: 'dict comprehension',
  dictionary: 'dict literal',
  set: 'set display',
  comparison_operator: 'comparison',
  conditional_expression: 'conditional expression',
  named_expression: 'named expression',
  list_splat: 'starred',
}

/** Names an expression as CPython's errors do. */
export function describeExpression(node: Node): string {
  const isFormatted = node.descendantsOfType('interpolation').length > 0
  if (/string$/.test(node.type) && isFormatted) return 'f-string expression'
  return DESCRIPTIONS[node.type] ?? 'expression'
}
