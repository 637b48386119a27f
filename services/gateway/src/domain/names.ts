const NAMESPACE = /^[a-z0-9][a-z0-9_-]{0,63}$/
const NAME = /^[A-Za-z0-9._-]{1,128}$/
const WORKFLOW = /^[\p{L}\p{M}\p{N}._ -]{1,128}$/u
const CALL = /^[^\p{Cc}\p{Cs}]{1,256}$/u
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u
const LABEL = /^[^/\p{C}]{1,255}$/u

const isDots = (text: string) => text === '.' || text === '..'

/** Names are compared exactly after NFC; undefined for what lies outside the grammar. */
const within = (grammar: RegExp) => (text: string) => {
  const name = text.normalize('NFC')
  return grammar.test(name) && !isDots(name) ? name : undefined
}

export const namespaceOf = within(NAMESPACE)

/** Workers, keys and roles. */
export const plainNameOf = within(NAME)

/** What uploads accept: letters of any script and blanks too. */
export const workflowNameOf = within(WORKFLOW)

/** Schedules: anything printable without a slash. */
export const scheduleNameOf = within(LABEL)

/** Secrets and configs: the same. */
export const entryNameOf = within(LABEL)

/** Tasks and their calls are called whatever their worker calls them, to the letter. */
export const callOf = (text: string) => (CALL.test(text) ? text : undefined)

/** Subjects are what their issuers chose, dots, slashes and all. */
export function subjectOf(text: string): string | undefined {
  const subject = text.normalize('NFC')
  return SUBJECT.test(subject) ? subject : undefined
}

/** Splits `name` or `namespace/name`; without a namespace it is `default`. */
export function splitWorkflowRef(ref: string): { namespace: string; name: string } {
  const slash = ref.indexOf('/')
  if (slash < 0) return { namespace: 'default', name: ref }
  return { namespace: ref.slice(0, slash), name: ref.slice(slash + 1) }
}
