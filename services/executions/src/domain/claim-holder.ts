import { conflict } from '@windlass/runtime/faults'
import type { Execution } from './execution.ts'

/** A worker that writes: its name, its session and the fencing token of its claim. */
export interface ClaimHolder {
  worker_name: string
  /** Empty: the caller counts as the newest registration of the name. */
  session_id: string
  claim_generation?: number
  /** Namespaces to which the worker is restricted; absent: none. */
  namespaces?: { names: readonly string[] }
}

/** Other worker implementations search a 409 for `stale-claim` and then drop the execution. */
export const staleClaim = (execution: Execution) =>
  conflict(`stale-claim: execution ${execution.execution_id} is no longer held by this claim`)

/** True if the writer is `holder`: the row's holder or, for a settled execution, its last one. */
export function isHeldBy(execution: Execution, writer: ClaimHolder, holder?: string): boolean {
  if (holder !== writer.worker_name) return false
  if (writer.claim_generation !== undefined)
    return writer.claim_generation === execution.claim_generation
  return writer.session_id === '' || writer.session_id === execution.held_session
}

/** Throws `stale-claim` unless the writer holds the execution. Every write of a worker is checked. */
export function fence(execution: Execution, writer: ClaimHolder): void {
  if (!isHeldBy(execution, writer, execution.held_by)) throw staleClaim(execution)
}

/**
 * True if the execution does not exist for the writer: it is of a namespace that the worker does not serve.
 * A worker that was the last to hold it knows it, and is answered that its claim is stale.
 */
export const isHiddenFrom = (
  { namespaces, worker_name }: ClaimHolder,
  { workflow_namespace, ...execution }: Execution,
): boolean =>
  namespaces !== undefined &&
  !namespaces.names.includes(workflow_namespace) &&
  execution.worker_name !== worker_name
