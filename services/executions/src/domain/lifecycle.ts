import { isTerminal, type State } from '@windlass/domain/states'
import { conflict, invalid } from '@windlass/runtime/faults'

/** Causes of a state change. */
export type Trigger =
  | 'lease'
  | 'claim'
  | 'work'
  | 'pause'
  | 'complete'
  | 'fail'
  | 'confirm_cancel'
  | 'resume'
  | 'cancel'
  | 'cancel_delivered'
  | 'lose'
  | 'lose_resume'
  | 'hand_over'
  | 'give_up'
  | 'time_out'

type Row = Partial<Record<State, State>>

const claimed = (to: State): Row => ({ CLAIMED: to, RUNNING: to, RESUME_CLAIMED: to })

/**
 * The lifecycle table: trigger, current state, next state. A pair that is not listed is refused. A test
 * compares the table with `docs/lifecycle.md`.
 */
export const transitions: Record<Trigger, Row> = {
  lease: { SCHEDULED: 'SCHEDULED', RESUMING: 'RESUME_SCHEDULED', CANCELLING: 'CANCELLING' },
  claim: { SCHEDULED: 'CLAIMED', RESUME_SCHEDULED: 'RESUME_CLAIMED' },
  work: { ...claimed('RUNNING'), CANCELLING: 'CANCELLING' },
  pause: { ...claimed('PAUSED'), CANCELLING: 'CANCELLED' },
  complete: { ...claimed('COMPLETED'), CANCELLING: 'COMPLETED' },
  fail: { ...claimed('FAILED'), CANCELLING: 'FAILED' },
  confirm_cancel: { CANCELLING: 'CANCELLED' },
  resume: { PAUSED: 'RESUMING' },
  cancel: {
    ...claimed('CANCELLING'),
    SCHEDULED: 'CANCELLED',
    PAUSED: 'CANCELLED',
    RESUMING: 'CANCELLED',
    RESUME_SCHEDULED: 'CANCELLED',
    CANCELLING: 'CANCELLING',
  },
  // The worker may already run it, and is asked to stop.
  cancel_delivered: { SCHEDULED: 'CANCELLING', RESUME_SCHEDULED: 'CANCELLING' },
  lose: {
    SCHEDULED: 'SCHEDULED',
    CLAIMED: 'SCHEDULED',
    RUNNING: 'SCHEDULED',
    RESUME_SCHEDULED: 'RESUMING',
    RESUME_CLAIMED: 'RESUMING',
    CANCELLING: 'CANCELLED',
  },
  // Going back to SCHEDULED would lose the body of a resume that no task has received.
  lose_resume: { CLAIMED: 'RESUMING', RUNNING: 'RESUMING', RESUME_CLAIMED: 'RESUMING' },
  // Its compensations have not ended, and another worker can continue them.
  hand_over: { CANCELLING: 'CANCELLING' },
  give_up: claimed('FAILED'),
  time_out: { SCHEDULED: 'FAILED', RESUMING: 'FAILED' },
}

/** Next state. Throws `invalid` for a terminal execution and `conflict` for any other unlisted pair. */
export function next(state: State, trigger: Trigger): State {
  const to = transitions[trigger][state]
  if (to) return to
  if (isTerminal(state)) throw invalid(`Cannot ${trigger} a finished execution.`)
  if (trigger === 'resume')
    throw conflict(`Cannot resume an execution in state '${state}'; it is not paused.`)
  throw conflict(`Cannot ${trigger} an execution in state '${state}'.`)
}
