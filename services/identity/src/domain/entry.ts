import { Fault, invalid, unprocessable } from '@windlass/runtime/faults'
import { checkJson, JsonError } from '@windlass/runtime/json/json'

/** Limits of secrets and configs. */
export const MAX_ENTRIES = 10_000
const MAX_VALUE_BYTES = 65_536
const MAX_VALUE_DEPTH = 512
const MAX_BATCH_NAMES = 100
const NAME = /^[^/\p{C}]{1,255}$/u

/** Returns the name in NFC, the form that is stored and compared. Throws `invalid`. */
export function parseEntryName(text: string): string {
  const name = text.normalize('NFC')
  if (!NAME.test(name) || name === '.' || name === '..')
    throw invalid('a name is 1 to 255 printable characters without /')
  return name
}

/** Returns the distinct names of a batch. Throws `too_large` or `invalid`. */
export function parseEntryNames(names: readonly string[]): string[] {
  if (names.length > MAX_BATCH_NAMES)
    throw new Fault('too_large', `a batch may have at most ${MAX_BATCH_NAMES} names`)
  return [...new Set(names.map(parseEntryName))]
}

/** Accepts JSON text of at most 64 KiB except `null`. Errors never contain the value. */
export function requireValidValue(value_json: string): void {
  if (new TextEncoder().encode(value_json).length > MAX_VALUE_BYTES)
    throw new Fault('too_large', `a value may have at most ${MAX_VALUE_BYTES} bytes`)
  try {
    checkJson(value_json, MAX_VALUE_DEPTH)
  } catch (error) {
    if (error instanceof JsonError) throw refused('must be JSON')
    throw error
  }
  if (value_json.trim() === 'null') throw refused('must not be null')
}

const refused = (msg: string) => unprocessable({ loc: ['body', 'value'], msg, type: 'value_error' })
