/**
 * Payloads as JSON text: slices of texts that were checked, joined to new texts. A payload that
 * passes through here leaves it byte for byte as it came.
 */
import { checkJson, elementsOf, JsonError, membersOf, quote } from '@windlass/runtime/json/json'
import { ArgumentError, ResponseError } from './errors.ts'

const MAX_DEPTH = 512

/** The body for a JSON-encoded argument: the text itself if it is JSON, `null` if empty, else a JSON string. */
export function toPayload(text: string): string {
  if (text === '') return 'null'
  return isJson(text) ? text : quote(text)
}

/** A schedule configuration, which must be JSON; throws ArgumentError. */
export function toScheduleConfig(text: string): string {
  if (!isJson(text)) throw new ArgumentError('Invalid JSON in schedule_config')
  return text
}

function isJson(text: string): boolean {
  try {
    checkJson(text, MAX_DEPTH)
    return true
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    if (error.reason === 'too_deep') throw new ArgumentError(`Invalid JSON: ${error.message}`)
    return false
  }
}

/** An object whose members are JSON texts; undefined members are left out. */
export function toJsonObject(members: Record<string, string | undefined>): string {
  const present = Object.entries(members).filter(([, text]) => text !== undefined)
  return `{${present.map(([name, text]) => `${quote(name)}:${text}`).join(',')}}`
}

/** The JSON texts of these members of an answer, in this order. Throws ResponseError if one is missing. */
export function getMembers(answer: string, names: readonly string[]): Record<string, string> {
  const members = membersOf(answer)
  return Object.fromEntries(
    names.map((name) => {
      const text = members?.get(name)
      if (text === undefined) throw new ResponseError(`the server's answer has no ${name}`)
      return [name, text]
    }),
  )
}

/** The JSON texts of the elements of an answer. Throws ResponseError if it is not an array. */
export function getElements(answer: string): string[] {
  const list = elementsOf(answer)
  if (!list) throw new ResponseError("the server's answer is not a list")
  return list
}
