import { Fault } from '@windlass/runtime/faults'
import { permits } from '@windlass/runtime/permissions'

/** Who is asking. Without `permissions` nothing is checked: authentication is off. */
export interface Caller {
  /** Empty for nobody in particular. */
  subject: string
  /** Where the subject is known by that name. */
  issuer?: string
  roles?: readonly string[]
  permissions?: readonly string[]
}

export const ANONYMOUS: Caller = { subject: '' }

export const may = ({ permissions }: Caller, needed: string): boolean =>
  permissions === undefined || permissions.some((granted) => permits(granted, needed))

/** Refuses a caller who lacks the permission, by its name. */
export function demand(caller: Caller, needed: string): void {
  if (!may(caller, needed)) throw refusal(needed)
}

export const refusal = (needed: string) =>
  new Fault('forbidden', `Permission denied: requires '${needed}'`)
