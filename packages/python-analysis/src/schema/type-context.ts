import type { Node } from 'web-tree-sitter'
import type { Expression } from '../python/expression.ts'
import type { Definition } from '../python/scope.ts'
import type { FieldOptions } from './fields.ts'
import type { Schema } from './known-types.ts'

/** What those who read one kind of type need of the whole. */
export interface TypeContext {
  /** The schema of a type; `where` it stands is for the notes. */
  read(type: Expression, where: string): Schema
  /** The same for a field's type, and what `Annotated` says of the field. */
  readField(type: Expression, where: string): { schema: Schema; said: FieldOptions }
  /** Says that something about a type is not known. */
  note(where: string, reason: string): void
  /** A part of a class body as an expression, evaluated after everything else. */
  inClassBody(definition: Definition, node: Node): Expression
}

/** `item_count` as people write it. */
export const toTitle = (name: string): string =>
  name
    .replaceAll('_', ' ')
    .replace(/\p{L}+/gu, (word) => `${word[0]?.toUpperCase()}${word.slice(1).toLowerCase()}`)
