import { checkJson, elementsOf, JsonError, membersOf, quote } from '@windlass/runtime/json/json'
import { Refusal } from './refusal.ts'

const MAX_DEPTH = 512

/** A JSON-encoded argument as the text of a body: untouched if it is JSON, `null` if empty, else as a JSON string. */
export function payloadOf(text: string): string {
  if (text === '') return 'null'
  return isJson(text) ? text : quote(text)
}

/** A JSON-encoded argument that must be JSON. */
export function configOf(text: string): string {
  if (!isJson(text)) throw new Refusal('Invalid JSON in schedule_config')
  return text
}

function isJson(text: string): boolean {
  try {
    checkJson(text, MAX_DEPTH)
    return true
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    if (error.reason === 'too_deep') throw new Refusal(`Invalid JSON: ${error.message}`)
    return false
  }
}

/** An object of raw JSON texts; absent members are left out. */
export function objectOf(members: Record<string, string | undefined>): string {
  const present = Object.entries(members).filter(([, text]) => text !== undefined)
  return `{${present.map(([name, text]) => `${quote(name)}:${text}`).join(',')}}`
}

/** The raw members of an answer, in the order asked for. Throws when one is not there. */
export function pick(answer: string, names: readonly string[]): Record<string, string> {
  const members = membersOf(answer)
  return Object.fromEntries(
    names.map((name) => {
      const text = members?.get(name)
      if (text === undefined) throw new Error(`the server's answer has no ${name}`)
      return [name, text]
    }),
  )
}

/** The raw elements of an answer. Throws when it is no array. */
export function elements(answer: string): string[] {
  const list = elementsOf(answer)
  if (!list) throw new Error("the server's answer is no list")
  return list
}
