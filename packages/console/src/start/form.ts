/**
 * A form for a workflow's input, from its JSON Schema. The JSON text is the state: the form shows its
 * members and replaces one of them by the text that was typed, so numbers stay as they were written.
 */
import { checkJson, membersOf, quote, stringOf } from '@windlass/runtime/json/json'

export interface Schema {
  type?: string | string[]
  title?: string
  description?: string
  enum?: unknown[]
  default?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  $ref?: string
  $defs?: Record<string, Schema>
}

type Editor = 'text' | 'number' | 'switch' | 'choice' | 'json'

export interface Field {
  name: string
  label: string
  description: string
  editor: Editor
  isRequired: boolean
  /** JSON texts of the choices. */
  choices: string[]
}

const EDITORS: Record<string, Editor | undefined> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'switch',
}

/** Fields of an input that is an object; undefined if the schema describes another or no shape. */
export function fieldsOf(schema: Schema | undefined): Field[] | undefined {
  const root = schema && resolve(schema, schema)
  if (root?.type !== 'object' || !root.properties) return undefined
  const required = new Set(root.required)
  return Object.entries(root.properties).map(([name, given]) => {
    const part = resolve(given, schema)
    return {
      name,
      label: part.title ?? name,
      description: part.description ?? '',
      editor: editorOf(part),
      isRequired: required.has(name),
      choices: (part.enum ?? []).map((value) => JSON.stringify(value)),
    }
  })
}

function editorOf({ enum: choices, type }: Schema): Editor {
  if (choices) return 'choice'
  return (typeof type === 'string' && EDITORS[type]) || 'json'
}

const LOCAL = /^#\/\$defs\/([^/]+)$/

/** Follows one reference to the definitions of the same schema. */
function resolve(part: Schema, root: Schema | undefined): Schema {
  const [, name = ''] = LOCAL.exec(part.$ref ?? '') ?? []
  const target = name === '' ? undefined : root?.$defs?.[name]
  return target ? { ...target, ...(part.title && { title: part.title }) } : part
}

/** A text to begin with: the defaults and an empty value for each required field. */
export function initialText(schema: Schema | undefined): string {
  const fields = fieldsOf(schema)
  if (!fields) return schema?.type === 'string' ? '""' : 'null'
  const root = schema && resolve(schema, schema)
  const texts = fields.flatMap(({ name, editor, isRequired, choices }) => {
    const given = root?.properties?.[name]?.default
    if (given !== undefined) return [`${quote(name)}: ${JSON.stringify(given)}`]
    return isRequired ? [`${quote(name)}: ${emptyOf(editor, choices)}`] : []
  })
  return texts.length === 0 ? '{}' : `{\n  ${texts.join(',\n  ')}\n}`
}

function emptyOf(editor: Editor, [first]: readonly string[]): string {
  if (editor === 'text') return '""'
  if (editor === 'number') return '0'
  if (editor === 'switch') return 'false'
  return first ?? 'null'
}

const MAX_DEPTH = 512

/** Why a text is no JSON; undefined if it is. */
export function problemOfJson(text: string): string | undefined {
  try {
    checkJson(text, MAX_DEPTH)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** The text of a field as it is edited: a string without its quotes, else the JSON text; empty if absent. */
export function shownOf(
  members: ReadonlyMap<string, string> | undefined,
  { name, editor }: Field,
): string {
  const member = members?.get(name)
  if (member === undefined) return ''
  return (editor === 'text' ? stringOf(member) : undefined) ?? member
}

/** The text with another value of a field; an empty one of a field that may be absent removes it. */
export function withField(text: string, field: Field, typed: string): string {
  const members = membersOf(text) ?? new Map<string, string>()
  const isAbsent = typed === '' && (!field.isRequired || field.editor !== 'text')
  if (isAbsent) members.delete(field.name)
  else members.set(field.name, field.editor === 'text' ? quote(typed) : typed)
  const parts = [...members].map(([name, value]) => `${quote(name)}: ${value}`)
  return parts.length === 0 ? '{}' : `{\n  ${parts.join(',\n  ')}\n}`
}
