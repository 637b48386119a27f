import type { Entry } from '@windlass/proto/windlass/identity/v1/secrets'
import { conflict, Fault, invalid } from '@windlass/runtime/faults'

/** Returns the entry of a request, which is optional on the wire. Throws `invalid` if it is absent. */
export function requireEntry(entry: Entry | undefined): Entry {
  if (!entry) throw invalid('entry is required')
  return entry
}

/** Fault of an unknown name. Clients match this text. */
export const entryNotFound = (what: string, name: string) =>
  new Fault('not_found', `${what} not found: ${name}`)

/** Fault of a new name above the limit. */
export const tooMany = (what: string, max: number) =>
  conflict(`the limit of ${max} ${what} is reached; delete one first`)
