import type { Node } from 'web-tree-sitter'
import type { Expression } from '../python/expression.ts'
import type { Definition } from '../python/scope.ts'
import type { FieldOptions } from './fields.ts'
import type { Schema } from './known-types.ts'

/** Operations that the readers of single kinds of types need from the type reader. */
export interface TypeContext {
  /** Returns the schema of a type; `where` names the place in notes. */
  read(type: Expression, where: string): Schema
  /** Returns the schema of a field's type and the field options in its `Annotated`. */
  readField(type: Expression, where: string): { schema: Schema; stated: FieldOptions }
  /** Records that something about a type is unknown. */
  note(where: string, reason: string): void
  /** Returns a node of a class body as an expression, evaluated after the whole module. */
  inClassBody(definition: Definition, node: Node): Expression
}

/** Converts `item_count` to `Item Count`. */
export const toTitle = (name: string): string =>
  name
    .replaceAll('_', ' ')
    .replace(/\p{L}+/gu, (word) => `${word[0]?.toUpperCase()}${word.slice(1).toLowerCase()}`)
