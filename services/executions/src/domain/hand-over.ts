import type { Execution, Limits, Outcome } from './execution.ts'
import { next } from './lifecycle.ts'
import type { Offer } from './offer.ts'
import { workerEvent } from './service-events.ts'

/**
 * Holder of a CANCELLING execution that waits for another worker. No worker has this name. The row looks
 * held, so a replica of an earlier release ends it at its deadline and never leases it.
 */
export const HANDED_OVER = '~'

export const isHandedOver = ({ held_by }: Execution): boolean => held_by === HANDED_OVER

/**
 * Leases a cancelled execution to a worker that continues it. It is held at once and needs no claim. The
 * worker gets the whole `cancelMs`, because it has not been asked before; each such lease counts as an
 * attempt. `passed_over` stays: it shows that the dispatch is the request to cancel.
 */
export function leaseCancelled(execution: Execution, offer: Offer, limits: Limits): Outcome {
  if (!offer.continues_cancelled) return { next: execution, events: [] }
  const claim_generation = execution.claim_generation + 1
  return {
    next: {
      ...execution,
      state: next(execution.state, 'lease'),
      held_by: offer.worker_name,
      held_session: offer.session_id,
      held_connection: offer.connection_generation,
      worker_name: offer.worker_name,
      claim_generation,
      continuable_generation: claim_generation,
      attempts: execution.attempts + 1,
    },
    events: [workerEvent('WORKFLOW_SCHEDULED', offer.worker_name)],
    deadlineMs: limits.cancelMs,
  }
}

/**
 * True if a cancelled execution that its worker has lost waits for another one until its deadline. Only a
 * worker that can continue it may have left compensations to others. A passed deadline ends it, so each cancel
 * ends in bounded time.
 */
export const mayHandOver = (execution: Execution, { maxAttempts }: Limits): boolean =>
  !isHandedOver(execution) &&
  execution.continuable_generation === execution.claim_generation &&
  execution.attempts < maxAttempts

/**
 * Reason for which this service ends a cancelled execution, as the value of its WORKFLOW_CANCELLED, in JSON. A
 * worker that confirms a cancel gives none.
 */
export function endOfCancel(execution: Execution, hasExpired: boolean, limits: Limits): string {
  const [reason, why] = hasExpired
    ? expiryOf(execution)
    : execution.attempts >= limits.maxAttempts
      ? ['max_attempts', `its worker was lost, and ${execution.attempts} attempts were made`]
      : ['worker_lost', 'its worker was lost, and no other one can continue it']
  return JSON.stringify({
    reason,
    message: `${why}; compensations without an outcome in the log have not run`,
  })
}

const expiryOf = (execution: Execution) => [
  'cancel_timeout',
  isHandedOver(execution)
    ? 'its worker was lost, and no other one took it within cancel_timeout'
    : 'its worker did not end it within cancel_timeout',
]

/** Lets a cancelled execution wait for another worker; `free` is the row without its holder. */
export const handOver = (execution: Execution, free: Execution): Outcome => ({
  next: {
    ...free,
    state: next(execution.state, 'hand_over'),
    held_by: HANDED_OVER,
    passed_over: execution.held_by,
  },
  events: [],
  deadlineMs: 'kept',
})
