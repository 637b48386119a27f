import { permits } from '@windlass/domain/permissions'

/** In no permission, so that only a star covers it. */
const ANY = '?'

/** Whether everything that a permission covers is covered by some of these. */
export function covers(held: readonly string[], permission: string): boolean {
  const longest = Math.max(0, ...held.map((one) => one.split(':').length))
  return probesOf(permission, longest + 1).every((probe) => held.some((one) => permits(one, probe)))
}

/** Stands for all that a permission covers, before others of at most so many segments. */
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
  /** What is held by other roles, which stays. */
  others?: readonly string[]
}

/** What a change gives, and what it takes, of the permissions before and after it. */
export function effectOf({ before, after, others = [] }: Change) {
  const had = [...others, ...before]
  const has = [...others, ...after]
  return {
    granted: after.filter((permission) => !covers(had, permission)),
    taken: before.filter((permission) => !covers(has, permission)),
  }
}
