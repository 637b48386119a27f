import { membersOf, stringOf } from '@windlass/runtime/json/json'
import type { Execution } from './execution.ts'

/** Maximum length of an error line, in characters. */
const MAX_CHARS = 300

/**
 * Returns the first line of the error of a FAILED execution, `<type>: <message>`; undefined for other
 * executions, and for an output that does not describe a failure.
 */
export function errorOf({
  state,
  output_json,
}: Pick<Execution, 'state' | 'output_json'>): string | undefined {
  if (state !== 'FAILED' || output_json === undefined) return undefined
  const members = membersOf(output_json)
  const type = stringOf(members?.get('type')) ?? ''
  const message = stringOf(members?.get('message')) ?? ''
  const [line = ''] = message.trimStart().split(/[\r\n]/, 1)
  const text = [type, line].filter((part) => part !== '').join(': ')
  return text === '' ? undefined : storable(text.slice(0, MAX_CHARS))
}

/** The database stores no NUL and no unpaired surrogate in a text, and a line has no control characters. */
const storable = (text: string) => text.replace(/[\p{Cc}\p{Cs}]/gu, ' ')
