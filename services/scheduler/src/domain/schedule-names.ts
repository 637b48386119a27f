import { unprocessable } from '@windlass/runtime/faults'

const NAME = /^[^\p{C}\p{Zl}\p{Zp}/]{1,255}$/u
const ID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

/** Path segments of the API that stand where a name does. */
const RESERVED = new Set(['forecast'])

/**
 * Returns the name in NFC. Throws `unprocessable`, also for a name in the form of an id: references
 * must be unambiguous.
 */
export function parseScheduleName(text: string): string {
  const name = text.normalize('NFC')
  if (name === '.' || name === '..' || name.trim() !== name || !NAME.test(name))
    throw wrong("must be 1 to 255 printable characters, without '/' or surrounding blanks")
  if (ID.test(name)) throw wrong('must not look like an id')
  if (RESERVED.has(name)) throw wrong('is reserved')
  return name
}

/** Names for the declared schedule of a workflow, in order of preference. */
export const autoNames = (workflow_namespace: string, workflow_name: string) =>
  [`${workflow_name}_auto`, `${workflow_namespace}.${workflow_name}_auto`] as const

const wrong = (msg: string) =>
  unprocessable({ loc: ['body', 'name'], msg: `name ${msg}`, type: 'value_error' })
