const NAMESPACE = /^[a-z0-9][a-z0-9_-]{0,63}$/
const NAME = /^[A-Za-z0-9._-]{1,128}$/
const WORKFLOW = /^[\p{L}\p{M}\p{N}._ -]{1,128}$/u
const CALL = /^[^\p{Cc}\p{Cs}]{1,256}$/u
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u
const LABEL = /^[^/\p{C}]{1,255}$/u

/**
 * The grammars as JSON Schema patterns, for the documents. They accept slightly more: names also refuse
 * `.`, `..` and unpaired surrogates. Few tools know Unicode classes other than letters and numbers.
 */
export const NAME_PATTERNS = {
  namespace: NAMESPACE.source,
  workflow: WORKFLOW.source,
  plain: NAME.source,
  call: '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,256}$',
  subject: '^[^\\u0000-\\u001f\\u007f-\\u009f]{1,255}$',
  label: '^[^/\\u0000-\\u001f\\u007f-\\u009f]{1,255}$',
  text: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  prose: '^[^\\u0000]*$',
} as const

const isDots = (text: string) => text === '.' || text === '..'

/**
 * Normalizes a name to NFC, the form in which names are compared; undefined if it does not match the
 * grammar.
 */
const within = (grammar: RegExp) => (text: string) => {
  const name = text.normalize('NFC')
  return grammar.test(name) && !isDots(name) ? name : undefined
}

export const namespaceOf = within(NAMESPACE)

/** Names of workers, keys and roles. */
export const plainNameOf = within(NAME)

/** Names that uploads accept: letters of any script and blanks too. */
export const workflowNameOf = within(WORKFLOW)

/** Names of schedules: printable characters without a slash. */
export const scheduleNameOf = within(LABEL)

/** Names of secrets and configs: the same as for schedules. */
export const entryNameOf = within(LABEL)

/** Names and call ids of tasks: any text of the worker, unchanged. */
export const callOf = (text: string) => (CALL.test(text) ? text : undefined)

/**
 * Subjects as their issuers chose them, including dots and slashes. They stay unchanged, because an issuer
 * may distinguish two subjects that have the same NFC form.
 */
export const subjectOf = (text: string) => (SUBJECT.test(text) ? text : undefined)

/** Splits `name` or `namespace/name`; without a namespace it is `default`. */
export function splitWorkflowRef(ref: string): { namespace: string; name: string } {
  const slash = ref.indexOf('/')
  if (slash < 0) return { namespace: 'default', name: ref }
  return { namespace: ref.slice(0, slash), name: ref.slice(slash + 1) }
}
