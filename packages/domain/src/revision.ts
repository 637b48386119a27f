import { createHash } from 'node:crypto'
import type { Precondition } from '@windlass/proto/windlass/access/v1/precondition'
import { Fault, type Problem } from '@windlass/runtime/faults'

const HEX_DIGITS = 32

/**
 * Names the state of those members of an object that a client changes: equal states have equal revisions. It is
 * computed from the members and not stored, so that replicas of releases without revisions change it as well, and
 * what a service itself changes, such as the next run of a schedule, does not.
 */
export const revisionOf = (members: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(members)).digest('hex').slice(0, HEX_DIGITS)

/** True if an object with this revision may be changed; the revision is undefined if there is no such object. */
function isMet({ revisions, any, absent }: Precondition, revision: string | undefined): boolean {
  if (revision === undefined) return absent
  return any || revisions.includes(revision)
}

/** Throws unless an object with this revision may be changed; the revision is undefined if there is no such object. */
export function requireMet(
  what: string,
  precondition: Precondition | undefined,
  revision: string | undefined,
): void {
  if (precondition && !isMet(precondition, revision)) throw preconditionFailed(what, precondition)
}

/**
 * True if the object has the revision that the change would give it, and not the one of the precondition: the client
 * repeats a change whose answer it did not receive. Throws for any other revision than that of the precondition.
 */
export function isMadeBefore(
  what: string,
  precondition: Precondition | undefined,
  { before, after }: { before: string | undefined; after: string },
): boolean {
  if (precondition && before === after && !isMet(precondition, before)) return true
  requireMet(what, precondition, before)
  return false
}

/** The refusal of a change whose precondition is not met. */
export function preconditionFailed(what: string, { absent }: Precondition): Fault {
  const problem: Problem = absent
    ? {
        loc: ['header', 'If-None-Match'],
        msg: `the ${what} exists; choose another name, or replace it with its revision in If-Match`,
        type: 'precondition_failed',
      }
    : {
        loc: ['header', 'If-Match'],
        msg: `the ${what} does not have this revision any more; read it again, and send the change with its revision, or without If-Match to overwrite it`,
        type: 'precondition_failed',
      }
  return new Fault('precondition_failed', problem.msg, { details: { problems: [problem] } })
}
