import type { Node } from 'web-tree-sitter'
import type { Definition } from './scope.ts'
import { dedentDocstring, stringValue } from './strings.ts'

/** Assignment in a class body. */
export interface Attribute {
  name: string
  type: Node | undefined
  value: Node | undefined
}

/** Returns the attributes that a class body assigns or annotates, in order. */
export function attributesOf({ node }: Definition): Attribute[] {
  const statements = node.childForFieldName('body')?.namedChildren ?? []
  return statements.flatMap((statement) => {
    const assignment =
      statement.type === 'expression_statement' ? statement.firstNamedChild : undefined
    const name = assignment?.type === 'assignment' ? assignment.childForFieldName('left') : null
    if (!assignment || name?.type !== 'identifier') return []
    return [
      {
        name: name.text.normalize('NFKC'),
        type: assignment.childForFieldName('type') ?? undefined,
        value: assignment.childForFieldName('right') ?? undefined,
      },
    ]
  })
}

/** Returns the docstring of a function or class. */
export function docstringOf({ node }: Definition): string | undefined {
  const first = node.childForFieldName('body')?.namedChildren.find(({ type }) => type !== 'comment')
  const literal = first?.type === 'expression_statement' ? first.firstNamedChild : undefined
  if (literal?.type !== 'string' && literal?.type !== 'concatenated_string') return undefined
  const parts = literal.type === 'string' ? [literal] : literal.namedChildren
  const texts = parts.filter(({ type }) => type === 'string').map(stringValue)
  return texts.includes(undefined) ? undefined : dedentDocstring(texts.join('')) || undefined
}
