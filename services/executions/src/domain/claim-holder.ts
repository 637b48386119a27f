import { conflict } from '@windlass/runtime/faults'
import type { Execution } from './execution.ts'

/** Who writes: a worker, on a session, under the generation that its claim gave it. */
export interface ClaimHolder {
  worker_name: string
  /** Empty: the caller could not be told apart from the newest registration of the name. */
  session_id: string
  claim_generation?: number
}

/** Workers of other make look for these words in a 409, and then leave the execution alone. */
export const staleClaim = (execution: Execution) =>
  conflict(`stale-claim: execution ${execution.execution_id} is no longer held by this claim`)

/** Whether the writer is the one that the row names, as holder or, once it rests, as the last one. */
export function isHeldBy(
  execution: Execution,
  writer: ClaimHolder,
  holder: string | undefined,
): boolean {
  if (holder !== writer.worker_name) return false
  if (writer.claim_generation !== undefined)
    return writer.claim_generation === execution.claim_generation
  return writer.session_id === '' || writer.session_id === execution.held_session
}

/** Passes only the current owner: every write of a worker goes through here. */
export function fence(execution: Execution, writer: ClaimHolder): void {
  if (!isHeldBy(execution, writer, execution.held_by)) throw staleClaim(execution)
}
