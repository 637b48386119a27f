import { checkJson, elementsOf, membersOf, stringOf } from '@windlass/runtime/json/json'

const MAX_DEPTH = 64

/**
 * The `detail` of an error body as a sentence, or undefined if there is none. It has three forms:
 * a text, `{message, missing_permissions}`, and a list of `{loc, msg}` for invalid fields.
 */
export function describeDetail(body: string): string | undefined {
  if (!isJson(body)) return undefined
  const members = membersOf(body)
  const detail = members?.get('detail')
  if (detail === undefined) return describeDecision(members)
  return stringOf(detail) ?? describeDenial(detail) ?? describeFields(detail)
}

/** The 409 of a decision that comes second is the only error of the API without a detail. */
function describeDecision(members: ReturnType<typeof membersOf>): string | undefined {
  if (stringOf(members?.get('error')) !== 'already_decided') return undefined
  return `the approval was decided before: it is ${stringOf(members?.get('current_status'))}`
}

function describeDenial(detail: string): string | undefined {
  const members = membersOf(detail)
  const message = stringOf(members?.get('message'))
  const missing = textsOf(members?.get('missing_permissions'))
  if (message === undefined || missing.length === 0) return message
  return `${message}: missing ${missing.join(', ')}`
}

function describeFields(detail: string): string | undefined {
  const problems = (elementsOf(detail) ?? []).flatMap((problem) => {
    const members = membersOf(problem)
    const message = stringOf(members?.get('msg'))
    if (message === undefined) return []
    const field = textsOf(members?.get('loc')).join('.')
    return field === '' ? message : `${field}: ${message}`
  })
  return problems.length === 0 ? undefined : problems.join('; ')
}

/** The elements of an array as texts: strings without quotes, anything else as JSON. */
function textsOf(json: string | undefined): string[] {
  if (json === undefined) return []
  return (elementsOf(json) ?? []).map((element) => stringOf(element) ?? element)
}

function isJson(text: string): boolean {
  try {
    checkJson(text, MAX_DEPTH)
    return true
  } catch {
    return false
  }
}
