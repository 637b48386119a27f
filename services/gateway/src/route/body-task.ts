import { Fault, type Kind } from '@windlass/runtime/faults'
import { decodeJson } from '@windlass/runtime/json/decode-json'
import { findDuplicateMember } from '@windlass/runtime/json/duplicate-members'
import { checkJson, JsonError, membersOf } from '@windlass/runtime/json/json'
import { readCheckpoint, readCheckpoints } from '../domain/checkpoint.ts'
import { repeated } from '../domain/members.ts'
import { readProgress } from '../domain/progress.ts'

export interface SizeLimit {
  maxBytes: number
  maxDepth: number
  /**
   * Maximum number of values and members in the whole body. A payload has no such limit, because it is
   * checked and split as text, never parsed.
   */
  maxValues: number
}

/** Maximum number of characters outside of the payloads that are parsed into values. */
const MAX_PARSED_CHARS = 262_144

export interface ObjectMembers {
  /** Members that stay text and may have any content, duplicate members included. */
  payloads: readonly string[]
  /** Members that stay text. */
  texts: readonly string[]
}

/** An object split into the members that stay text and the others; or the text of another value. */
export interface ObjectText {
  text?: string
  kept?: [name: string, raw: string][]
  parsed?: [name: string, raw: string][]
}

/** Readers of checked JSON text, by a name that a thread can look up. Their results can be cloned. */
const READERS = {
  text: (text: string): string => text,
  object: (text: string, { members }: { members?: ObjectMembers }): ObjectText =>
    splitObject(text, members ?? { payloads: [], texts: [] }),
  checkpoint: (text: string) => readCheckpoint(text),
  checkpoints: readCheckpoints,
  progress: (text: string) => readProgress(text, new Date().toISOString()),
}

type Readers = typeof READERS
export type ReaderName = keyof Readers
export type ReaderResult<N extends ReaderName> = ReturnType<Readers[N]>

/** Says how to read the bytes of a body, as plain data that can be sent to a thread. */
export interface BodyTask<N extends ReaderName = ReaderName> {
  reader: N
  limit: SizeLimit
  members?: ObjectMembers
}

/** Decodes and checks a JSON body and reads it as text slices. Takes linear time. */
export function runBodyTask<N extends ReaderName>(
  bytes: Uint8Array,
  { reader, limit, members }: BodyTask<N>,
): ReaderResult<N> {
  const text = decodeJson(bytes)
  checkJson(text, limit.maxDepth, limit.maxValues)
  const read = READERS[reader] as (text: string, options: object) => ReaderResult<N>
  return read(text, { members })
}

function splitObject(text: string, { payloads, texts }: ObjectMembers): ObjectText {
  const place = findDuplicateMember(text, payloads)
  if (place) throw repeated(['body', ...place])
  const names = new Set([...payloads, ...texts])
  const members = names.size > 0 ? membersOf(text) : undefined
  if (!members) {
    if (names.size > 0) requireParsable(text.length)
    return { text }
  }
  const kept = [...members].filter(([name]) => names.has(name))
  const parsed = [...members].filter(([name]) => !names.has(name))
  requireParsable(parsed.reduce((sum, [name, raw]) => sum + name.length + raw.length, 0))
  return { kept, parsed }
}

function requireParsable(chars: number): void {
  if (chars > MAX_PARSED_CHARS)
    throw new Fault(
      'too_large',
      `Request body too large: more than ${MAX_PARSED_CHARS} characters in addition to its payload`,
    )
}

/** An error of a task in a form that can be cloned. */
export type TaskFailure =
  | { fault: { kind: Kind; message: string; details: Record<string, unknown> | undefined } }
  | { json: { message: string; offset: number; reason: JsonError['reason'] } }
  | { message: string }

export function toFailure(error: unknown): TaskFailure {
  if (error instanceof JsonError) {
    const { message, offset, reason } = error
    return { json: { message, offset, reason } }
  }
  if (error instanceof Fault) {
    const { kind, message, details } = error
    return { fault: { kind, message, details } }
  }
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

export function toError(failure: TaskFailure): Error {
  if ('json' in failure)
    return new JsonError(failure.json.message, failure.json.offset, failure.json.reason)
  if ('fault' in failure) {
    const { kind, message, details } = failure.fault
    return new Fault(kind, message, details && { details })
  }
  return new Error(failure.message)
}
