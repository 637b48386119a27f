import { isTerminal } from '@windlass/domain/states'
import { LabelValues } from '@windlass/runtime/metrics/label-values'
import { isDelivered, isUnclaimed } from '../domain/ownership.ts'
import {
  claimWait,
  executionsCreated,
  executionsEnded,
  queueWait,
  requeues,
  runDuration,
} from '../metrics.ts'
import type { CommittedChange } from './batch.ts'

const CLAIMS = new Set(['WORKFLOW_CLAIMED', 'WORKFLOW_RESUME_CLAIMED'])

/** Maximum number of workflows with a series of their own in a metric, for each replica. */
const MAX_WORKFLOWS = 200
/** Maximum number of remembered claims whose end has not been seen; the oldest is dropped. */
const MAX_OPEN_CLAIMS = 20_000

/**
 * Measures the stages of executions from committed changes. A stage is the time between two updates of a
 * row, so it needs no further reads. Only the time of the first claim is no longer in the row at the end:
 * this replica remembers the claims that it applied.
 */
export class ChangeMeter {
  readonly #workflows = new LabelValues(MAX_WORKFLOWS)
  readonly #claimedAt = new Map<string, Date>()

  record(committed: readonly CommittedChange[]): void {
    for (const change of committed) this.#record(change)
  }

  #record({ before, after, entries }: CommittedChange): void {
    const workflow = this.#workflows.of(`${after.workflow_namespace}/${after.workflow_name}`)
    if (!before) executionsCreated.add(1, { workflow })
    if (after.claim_generation > (before?.claim_generation ?? 0))
      queueWait.record(seconds((before ?? after).updated_at, after.updated_at), { workflow })
    if (after.queued && before?.held_by) requeues.add(1, { workflow })
    if (!before) return
    if (isUnclaimed(before) && entries.some(({ type }) => CLAIMS.has(type)))
      this.#onClaim(workflow, before, after)
    if (isTerminal(after.state) && !isTerminal(before.state)) this.#onEnd(workflow, after)
  }

  #onClaim(workflow: string, before: CommittedChange['after'], after: CommittedChange['after']) {
    claimWait.record(seconds(before.updated_at, after.updated_at), { workflow })
    if (this.#claimedAt.has(after.execution_id)) return
    if (this.#claimedAt.size >= MAX_OPEN_CLAIMS)
      this.#claimedAt.delete(this.#claimedAt.keys().next().value as string)
    // A first checkpoint that claims arrives after the workflow has begun.
    const { updated_at } = isDelivered(after) ? before : after
    this.#claimedAt.set(after.execution_id, updated_at)
  }

  #onEnd(workflow: string, { execution_id, state, updated_at }: CommittedChange['after']): void {
    executionsEnded.add(1, { workflow, state })
    const claimedAt = this.#claimedAt.get(execution_id)
    this.#claimedAt.delete(execution_id)
    if (claimedAt) runDuration.record(seconds(claimedAt, updated_at), { workflow })
  }
}

/** The clocks of two replicas may differ, so the difference is never negative. */
const seconds = (from: Date, to: Date): number =>
  Math.max(0, (to.getTime() - from.getTime()) / 1_000)
