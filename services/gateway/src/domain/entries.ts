import { entryNameOf } from '@windlass/domain/names'
import type { Entry, Patterns } from '@windlass/proto/windlass/identity/v1/secrets'
import { Fault, invalid, unprocessable } from '@windlass/runtime/faults'
import { elementsOf, quote, stringOf } from '@windlass/runtime/json/json'
import { membersOnce } from './members.ts'
import { JsonText } from './views.ts'

const MAX_BATCH_NAMES = 100
const MAX_SHOWN_CHARS = 255

/** Reads the names of a batch, a bare array. Throws `unprocessable`, or `too_large` above a hundred. */
export function readNames(text: string): string[] {
  const elements = elementsOf(text)
  if (!elements)
    throw unprocessable({ loc: ['body'], msg: 'must be an array of names', type: 'list_type' })
  refuseMany(elements)
  return elements.map((element, i) => {
    const name = stringOf(element)
    if (name !== undefined && entryNameOf(name) !== undefined) return name
    throw unprocessable({ loc: ['body', i], msg: 'is not a valid name', type: 'value_error' })
  })
}

export interface SecretsRequest {
  execution_id: string
  names: string[]
}

/**
 * Reads the names that a worker requests. Any text is accepted, because only declared names are answered.
 * Throws `invalid` with the message that workers show.
 */
export function readSecretsRequest(text: string): SecretsRequest {
  const members = membersOnce(text, ['body'])
  if (!members) throw unprocessable({ loc: ['body'], msg: 'must be an object', type: 'model_type' })
  const names = elementsOf(members.get('names') ?? '')
  if (names) refuseMany(names)
  const texts = names?.map(stringOf)
  if (!texts?.every((name) => name !== undefined))
    throw invalid("'names' must be a list of strings")
  const execution_id = stringOf(members.get('execution_id'))
  if (!execution_id) throw invalid("'execution_id' is required")
  return { execution_id, names: texts }
}

function refuseMany(names: readonly unknown[]): void {
  if (names.length > MAX_BATCH_NAMES)
    throw new Fault('too_large', `a batch may have at most ${MAX_BATCH_NAMES} names`)
}

/** Returns the names that a workflow declares in its metadata, normalized for comparison. */
export function declaredSecrets(metadata_json: string): ReadonlySet<string> {
  const { secret_requests = [] } = JSON.parse(metadata_json || '{}') as {
    secret_requests?: string[]
  }
  return new Set(secret_requests.map((name) => name.normalize('NFC')))
}

/** Returns the names that are not declared, in order. */
export const undeclared = (names: readonly string[], declared: ReadonlySet<string>): string[] =>
  [...new Set(names)].filter((name) => !declared.has(name.normalize('NFC'))).sort()

/** Returns the values under the requested names. Throws `not_found` with the names that have no value. */
export function batchOf(
  names: readonly string[],
  entries: readonly Entry[],
  what: 'secrets' | 'configs',
): JsonText {
  const values = new Map(entries.map(({ name, value_json }) => [name, value_json]))
  const asked = [...new Set(names)].map((name) => ({
    name,
    value: values.get(name.normalize('NFC')),
  }))
  const missing = asked.filter(({ value }) => value === undefined).map(({ name }) => name)
  if (missing.length > 0)
    throw new Fault('not_found', `The following ${what} were not found: ${listed(missing)}`)
  return new JsonText(`{${asked.map(({ name, value }) => `${quote(name)}:${value}`).join(',')}}`)
}

/** Splices a name, its value and, if the entry is restricted or `isDetailed` is set, the details. */
export function entryView(entry: Entry, isDetailed: boolean): JsonText {
  const details = Object.entries(detailsOf(entry, isDetailed))
  const members = details.map(([name, value]) => `,${quote(name)}:${JSON.stringify(value)}`)
  return new JsonText(
    `{"name":${quote(entry.name)},"value":${entry.value_json}${members.join('')}}`,
  )
}

/**
 * Patterns, version and revision of an entry. Clients of the original contract know none of them, so without `isDetailed`
 * they are left out for an entry that all workflows may use.
 */
export function detailsOf(entry: Entry, isDetailed: boolean) {
  const { namespaces, workflows, version, previous_until, revision } = entry
  const isPlain = (namespaces?.all ?? true) && (workflows?.all ?? true) && !previous_until
  if (isPlain && !isDetailed) return {}
  return {
    namespaces: patternsOf(namespaces),
    workflows: patternsOf(workflows),
    ...(version !== undefined && { version, previous_until: timeOf(previous_until) }),
    ...(revision !== undefined && { revision }),
  }
}

const patternsOf = (patterns: Patterns | undefined) =>
  !patterns || patterns.all ? null : patterns.items

const timeOf = (time: Date | undefined) => time?.toISOString() ?? null

/** Formats names as a Python list, the form in which clients know these messages. */
export const listed = (names: readonly string[]): string => `[${names.map(shown).join(', ')}]`

function shown(name: string): string {
  const text = name.slice(0, MAX_SHOWN_CHARS).replaceAll('\\', '\\\\')
  if (!text.includes("'")) return `'${text}'`
  return text.includes('"') ? `'${text.replaceAll("'", "\\'")}'` : `"${text}"`
}
