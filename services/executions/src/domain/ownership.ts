import { conflict } from '@windlass/runtime/faults'
import { type ClaimHolder, fence, isHeldBy } from './claim-holder.ts'
import type { Execution, Limits, Outcome } from './execution.ts'
import { endOfCancel, handOver, isHandedOver, leaseCancelled, mayHandOver } from './hand-over.ts'
import { next, type Trigger } from './lifecycle.ts'
import type { Offer } from './offer.ts'
import { workerEvent, workflowEvent } from './service-events.ts'

/** Leases work that waits for a worker. An execution that does not wait for one stays unchanged. */
export function lease(execution: Execution, offer: Offer, limits: Limits): Outcome {
  if (isHandedOver(execution)) return leaseCancelled(execution, offer, limits)
  if (!execution.queued) return unchanged(execution)
  const state = next(execution.state, 'lease')
  const type = state === 'SCHEDULED' ? 'WORKFLOW_SCHEDULED' : 'WORKFLOW_RESUME_SCHEDULED'
  const claim_generation = execution.claim_generation + 1
  const isCounted = mayBeDelivered(execution, offer, limits)
  return {
    next: {
      ...execution,
      state,
      held_by: offer.worker_name,
      held_session: offer.session_id,
      held_connection: offer.connection_generation,
      worker_name: offer.worker_name,
      claim_generation,
      delivered_generation: isCounted ? claim_generation : execution.delivered_generation,
      continuable_generation: offer.continues_cancelled
        ? claim_generation
        : execution.continuable_generation,
      attempts: execution.attempts + (isCounted ? 1 : 0),
      queued: false,
      passed_over: undefined,
    },
    events: [workerEvent(type, offer.worker_name)],
    deadlineMs: limits.claimMs,
  }
}

/**
 * True if the first checkpoint under a lease may be its claim. The worker then runs the workflow before the
 * server knows that it has the frame, so this is allowed only for a first attempt: after an expired lease
 * or a failed attempt, the next worker has to claim, so that its death is counted. Otherwise work that
 * blocks its worker before the first checkpoint would expire again and again without being counted. With
 * `max_attempts` 1, nothing may run that is not known to have started.
 */
const mayBeDelivered = (execution: Execution, offer: Offer, { maxAttempts }: Limits): boolean =>
  offer.claims_by_delivery === true &&
  execution.attempts === 0 &&
  execution.passed_over === undefined &&
  maxAttempts > 1

/** True if the first checkpoint may claim the current lease, which was then counted as an attempt. */
export const isDelivered = ({ claim_generation, delivered_generation }: Execution): boolean =>
  delivered_generation === claim_generation

/** Bytes per millisecond of the slowest link over which a frame must arrive before its deadline. */
const MIN_BYTES_PER_MS = 256
const MAX_FRAME_BYTES = 256 * 1_048_576

/** True if it is leased and not claimed, or queued. */
export const isUnclaimed = ({ state }: Execution) =>
  state === 'SCHEDULED' || state === 'RESUME_SCHEDULED'

interface ReleaseRequest {
  holder: ClaimHolder
  /** True: an execution that its worker has claimed is left unchanged. */
  unclaimed_only?: boolean
}

/** Returns an execution of the holder to the queue. */
export function release(
  execution: Execution,
  { holder, unclaimed_only }: ReleaseRequest,
  limits: Limits,
): Outcome {
  fence(execution, holder)
  if (unclaimed_only && !isUnclaimed(execution)) return unchanged(execution)
  return lose(execution, 'released', limits)
}

/** Restarts the claim deadline of a lease whose frame is on its way; it grows with the size of the frame. */
export function extendLease(execution: Execution, frame_bytes: number, limits: Limits): Outcome {
  if (!isUnclaimed(execution)) return unchanged(execution)
  return { next: { ...execution }, events: [], deadlineMs: transferMs(frame_bytes, limits) }
}

/** Milliseconds that this many bytes may take to reach the worker. */
function transferMs(bytes: number, { claimMs }: Limits): number {
  return claimMs + Math.min(Math.max(bytes, 0), MAX_FRAME_BYTES) / MIN_BYTES_PER_MS
}

const CLAIMED_STATES = ['CLAIMED', 'RUNNING', 'RESUME_CLAIMED', 'CANCELLING']

interface ClaimRequest {
  holder: ClaimHolder
  /** True: the caller will confirm that the worker has received the answer. */
  awaits_confirmation?: boolean
}

/**
 * Confirms a lease. A repeated claim is accepted, because the first answer may have been lost. A claim
 * whose answer awaits confirmation has a deadline: a worker without the answer does not know that it holds
 * the execution, and many workers never ask again.
 */
export function claim(
  execution: Execution,
  { holder, awaits_confirmation }: ClaimRequest,
  { claimMs }: Limits,
): Outcome {
  if (!isHeldBy(execution, holder, execution.held_by)) throw cannotClaim(execution)
  const deadlineMs = awaits_confirmation ? claimMs : undefined
  if (CLAIMED_STATES.includes(execution.state))
    return awaits_confirmation ? setClaimDeadline(execution, deadlineMs) : unchanged(execution)
  const state = next(execution.state, 'claim')
  const type = state === 'CLAIMED' ? 'WORKFLOW_CLAIMED' : 'WORKFLOW_RESUME_CLAIMED'
  return {
    // An attempt is counted once: at the lease, if the worker may have started since then.
    next: { ...execution, state, attempts: execution.attempts + (isDelivered(execution) ? 0 : 1) },
    events: [workerEvent(type, holder.worker_name)],
    deadlineMs,
  }
}

/** Ends the deadline of a claim, or restarts it while bytes of the answer are still to be sent. */
export function confirmClaim(execution: Execution, pending_bytes: number, limits: Limits): Outcome {
  const deadlineMs = pending_bytes > 0 ? transferMs(pending_bytes, limits) : undefined
  return setClaimDeadline(execution, deadlineMs)
}

/** No effect once the worker has sent a checkpoint. */
function setClaimDeadline(execution: Execution, deadlineMs: number | undefined): Outcome {
  const isClaimed = execution.state === 'CLAIMED' || execution.state === 'RESUME_CLAIMED'
  return isClaimed ? { next: { ...execution }, events: [], deadlineMs } : unchanged(execution)
}

/** Outcome of a command that changes nothing. */
export const unchanged = (execution: Execution): Outcome => ({ next: execution, events: [] })

const cannotClaim = ({ execution_id, state }: Execution) =>
  conflict(`Cannot claim execution ${execution_id}: current state is ${state}`)

/** The execution without a holder. */
export const withoutHolder = (execution: Execution): Execution => ({
  ...execution,
  held_by: undefined,
  held_session: undefined,
  held_connection: undefined,
})

/**
 * Reason why an execution leaves its worker: it was released, the worker was evicted, or a deadline passed.
 */
export type Loss = 'released' | 'died' | 'expired'

/**
 * Takes an execution from its holder and raises the fencing token, so that later writes of the holder are
 * refused. It returns to the queue; CANCELLING becomes CANCELLED, unless another worker can continue it; an
 * execution on which `maxAttempts` workers have died without progress FAILS.
 */
export function lose(execution: Execution, loss: Loss, limits: Limits): Outcome {
  if (!execution.held_by) return unchanged(execution)
  const { state, held_by } = execution
  const wasUnclaimed = isUnclaimed(execution)
  const free = { ...withoutHolder(execution), claim_generation: execution.claim_generation + 1 }
  if (state === 'CANCELLING' && loss !== 'expired' && mayHandOver(execution, limits))
    return handOver(execution, free)
  if (state === 'CANCELLING')
    return {
      next: { ...free, state: next(state, 'lose') },
      events: [
        {
          ...workflowEvent(execution, 'WORKFLOW_CANCELLED'),
          value_json: endOfCancel(execution, loss === 'expired', limits),
        },
      ],
    }
  if (!wasUnclaimed && loss === 'died' && execution.attempts >= limits.maxAttempts)
    return giveUp(execution, free)
  const trigger: Trigger = execution.resume_due && !wasUnclaimed ? 'lose_resume' : 'lose'
  // The worker lives: it released the execution, or never received the frame or the answer to its claim.
  const wasCounted = !wasUnclaimed || isDelivered(execution)
  const refunded = loss !== 'died' && wasCounted ? 1 : 0
  return {
    next: {
      ...free,
      state: next(state, trigger),
      queued: true,
      worker_name: undefined,
      attempts: Math.max(0, execution.attempts - refunded),
      passed_over: loss === 'expired' ? held_by : undefined,
    },
    events: [],
    deadlineMs: execution.queue_timeout_ms,
  }
}

/** Fails an execution that was queued for longer than its queue_timeout. Others stay unchanged. */
export function timeOut(execution: Execution): Outcome {
  const { state, queued, queue_timeout_ms = 0 } = execution
  if (!queued) return unchanged(execution)
  const message = `no worker took it within its queue_timeout of ${queue_timeout_ms / 1_000} s`
  return withFailure(
    { ...execution, state: next(state, 'time_out'), queued: false },
    'QueueTimeout',
    message,
  )
}

function giveUp(execution: Execution, free: Execution): Outcome {
  const message =
    `given up after ${execution.attempts} workers or processes died at the same point, ` +
    `with ${execution.completions} tasks completed`
  return withFailure({ ...free, state: next(execution.state, 'give_up') }, 'WorkerLost', message)
}

/** An execution that this service made FAILED; the output states the reason. */
function withFailure(failed: Execution, type: string, message: string): Outcome {
  const value_json = JSON.stringify({ type, message })
  return {
    next: { ...failed, output_json: value_json },
    events: [{ ...workflowEvent(failed, 'WORKFLOW_FAILED'), value_json }],
  }
}
