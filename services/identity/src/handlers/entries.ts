import type { Entry } from '@windlass/proto/windlass/identity/v1/secrets'
import { conflict, Fault, invalid } from '@windlass/runtime/faults'

/** The entry of a request, which may lack it on the wire. */
export function given(entry: Entry | undefined): Entry {
  if (!entry) throw invalid('entry is required')
  return entry
}

/** The refusal of a name that is not there, in the words that clients know. */
export const absent = (what: string, name: string) =>
  new Fault('not_found', `${what} not found: ${name}`)

/** The refusal of one more than are kept. */
export const tooMany = (what: string, max: number) =>
  conflict(`there are ${max} ${what} already, and no more are kept`)
