import { isTerminal } from '@windlass/domain/states'
import { unprocessable } from '@windlass/runtime/faults'
import type { Execution, Limits, Outcome } from './execution.ts'
import { lose } from './ownership.ts'

/**
 * Condition that wakes a parked execution: a time, the end of one of several executions, or whichever comes
 * first.
 */
export interface WakeCondition {
  /** Milliseconds from now by the clock of the database; not positive: the time has come. */
  wait_ms?: number | undefined
  wake_on: readonly string[]
}

export interface ParkContext {
  limits: Limits
  /** An execution of `wake_on`, locked until the commit; undefined if it does not exist. */
  findAwaited(execution_id: string): Execution | undefined
}

/**
 * Releases an execution that only waits. It is parked, without a worker and outside of the ready queue,
 * until the condition is met; if the condition is already met, it is queued. A release of an execution that
 * is being cancelled ends it, as any release does. The rows of `wake_on` are locked together with that of
 * the execution: an end that was committed before is visible here, and one that is committed later finds
 * the stored condition (loops/wake.ts).
 */
export function park(
  execution: Execution,
  { wait_ms, wake_on }: WakeCondition,
  { limits, findAwaited }: ParkContext,
): Outcome {
  const awaited = wake_on.map((id, i) => ownExecution(execution, findAwaited(id), i))
  const released = lose(execution, 'released', limits)
  const isMet =
    (wait_ms !== undefined && wait_ms <= 0) || awaited.some((row) => isTerminal(row.state))
  if (isMet || !released.next.queued) return released
  return {
    next: { ...released.next, queued: false, parked: true },
    events: [],
    deadlineMs: wait_ms,
    wake_on,
  }
}

/**
 * Accepts only executions of the same principal, such as nested runs, because a wake-up reveals when an
 * execution ends. An id that does not exist, and the execution itself, are refused with the same message.
 */
function ownExecution(execution: Execution, awaited: Execution | undefined, i: number): Execution {
  const isOwn =
    awaited?.execution_id !== execution.execution_id &&
    awaited?.created_by === execution.created_by &&
    awaited.created_by_issuer === execution.created_by_issuer
  if (awaited && isOwn) return awaited
  throw unprocessable({
    loc: ['body', 'wake_on', i],
    msg: 'is not another execution of the principal that started this one',
    type: 'value_error',
  })
}

/**
 * Queues an execution that was parked under this claim generation; its queue_timeout starts now. Other
 * executions stay unchanged.
 */
export function wake(execution: Execution, claim_generation: number): Outcome {
  if (!execution.parked || execution.claim_generation !== claim_generation)
    return { next: execution, events: [] }
  return {
    next: { ...execution, parked: false, queued: true },
    events: [],
    deadlineMs: execution.queue_timeout_ms,
  }
}
