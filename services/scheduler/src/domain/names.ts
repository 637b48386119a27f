import { unprocessable } from '@windlass/runtime/faults'

const NAME = /^[^\p{C}\p{Zl}\p{Zp}/]{1,255}$/u
const ID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

/** What stands in paths where a name would. */
const RESERVED = new Set(['forecast'])

/** A schedule's name in its one form, or `unprocessable`. What reads as an id is refused: a reference must mean one thing. */
export function parseScheduleName(given: string): string {
  const name = given.normalize('NFC')
  if (name === '.' || name === '..' || name.trim() !== name || !NAME.test(name))
    throw wrong("must be 1 to 255 printable characters, without '/' and blanks around it")
  if (ID.test(name)) throw wrong('must not look like an id')
  if (RESERVED.has(name)) throw wrong('is reserved')
  return name
}

/** The names a workflow's declared schedule may take, the usual one first. */
export const autoNames = (workflow_namespace: string, workflow_name: string) =>
  [`${workflow_name}_auto`, `${workflow_namespace}.${workflow_name}_auto`] as const

const wrong = (msg: string) =>
  unprocessable({ loc: ['body', 'name'], msg: `name ${msg}`, type: 'value_error' })
