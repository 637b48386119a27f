import { permits } from '@windlass/domain/permissions'

/** A segment that occurs in no permission: only a star covers it. */
const ANY = '?'

/** True if everything that a permission covers is covered by some of these. */
export function covers(held: readonly string[], permission: string): boolean {
  const longest = Math.max(0, ...held.map((one) => one.split(':').length))
  return probesOf(permission, longest + 1).every((probe) => held.some((one) => permits(one, probe)))
}

/**
 * Returns a concrete permission that represents all that this one covers, with at most this many segments.
 */
function probesOf(permission: string, longest: number): string[] {
  const segments = permission.split(':').map((segment) => (segment === '*' ? ANY : segment))
  if (!permission.endsWith('*') || !/(^|:)\*$/.test(permission)) return [segments.join(':')]
  const head = segments.slice(0, -1)
  const probes: string[] = []
  for (let length = Math.max(1, head.length); length <= longest + head.length; length++)
    probes.push([...head, ...Array(length - head.length).fill(ANY)].join(':'))
  return probes
}

interface Change {
  before: readonly string[]
  after: readonly string[]
  /** Permissions from other roles, which the change does not affect. */
  others?: readonly string[]
}

/** Returns what a change grants and withdraws, from the permissions before and after it. */
export function effectOf({ before, after, others = [] }: Change) {
  const had = [...others, ...before]
  const has = [...others, ...after]
  return {
    granted: after.filter((permission) => !covers(had, permission)),
    taken: before.filter((permission) => !covers(has, permission)),
  }
}
