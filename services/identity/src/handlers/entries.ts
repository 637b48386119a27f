import type { Entry } from '@windlass/proto/windlass/identity/v1/secrets'
import { conflict, Fault, invalid } from '@windlass/runtime/faults'

export function given(entry: Entry | undefined): Entry {
  if (!entry) throw invalid('entry is required')
  return entry
}

export const absent = (what: string, name: string) =>
  new Fault('not_found', `${what} not found: ${name}`)

export const tooMany = (what: string, max: number) =>
  conflict(`there are ${max} ${what} already, and no more are kept`)
