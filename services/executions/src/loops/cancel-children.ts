/**
 * Cancels of nested runs.
 *
 * Problem
 *
 * A nested run that was started with `on_cancel=cancel` must not outlive a cancel of its parent, in
 * whatever state the parent is: without a worker it cannot cancel anything itself. Writing both in one
 * transaction would lock whole trees of executions against the order of ids.
 *
 * Protocol
 *
 *   cancel   changes the parent alone, to CANCELLING or CANCELLED
 *   create   inserts the nested run with its `parent_id`, without a look at the parent
 *   prompt   the replica that committed either of them looks up the nested runs of the parent,
 *            some 20 ms later (follow-ends.ts), and cancels those that have not ended
 *   poll     finds the nested runs of parents that are CANCELLING, and of those that became CANCELLED
 *            (a cursor behind the terminal events), also those of replicas that died after their commit
 *   sweep    reads the unfinished executions page by page: it finds what is created under a parent that is
 *            CANCELLED and that the cursor has passed, if the prompt was lost
 *
 * Whichever commit is later sees the other one when it looks. Each cancelled run is a parent in turn.
 *
 * A run that is created while its parent is CANCELLING is cancelled too: its creation was on its way.
 * Compensations of a saga must end, so the SDK starts their runs with `on_cancel=leave`.
 *
 * Cost: one query by primary key and index for each 20 ms in which executions are cancelled or
 * nested runs are created. A round of the sweep reads one page, however many executions are unfinished.
 */
import type { Db } from '@windlass/runtime/postgres/db'
import type { ExecutionWriter } from '../engine/writer.ts'
import * as store from '../store/children.ts'

const BATCH = 500
const SWEEP_PAGE = 1_000

/** Cancels the nested runs of these executions if a cancel of them was requested. */
export async function cancelChildren(
  db: Db,
  writer: ExecutionWriter,
  parent_ids: readonly string[],
): Promise<void> {
  if (parent_ids.length === 0) return
  let last: string | undefined
  let failed: unknown
  do {
    const children = await store.listToCancel(db, parent_ids, BATCH, last)
    last = children.length === BATCH ? children.at(-1)?.execution_id : undefined
    const results = await Promise.allSettled(
      children.map(({ execution_id }) =>
        writer.submit({ execution_id, command: { kind: 'cancel' } }),
      ),
    )
    failed ??= results.map(failureOf).find((failure) => failure !== undefined)
  } while (last)
  if (failed) throw new Error('a nested run could not be cancelled', { cause: failed })
}

/** Creates the round of the sweep: it reads the page of unfinished executions after that of the round before. */
export function createOrphanSweep(db: Db, writer: ExecutionWriter) {
  let last: store.UnfinishedRow | undefined
  return async (): Promise<void> => {
    const page = await store.listUnfinished(db, SWEEP_PAGE, last)
    last = page.length === SWEEP_PAGE ? page.at(-1) : undefined
    const parents = page.flatMap(({ cancelled_with = [] }) => cancelled_with)
    await cancelChildren(db, writer, [...new Set(parents)])
  }
}

/** This gives the reason for another attempt; an execution that has ended in the meantime needs none. */
function failureOf(result: PromiseSettledResult<Awaited<ReturnType<ExecutionWriter['submit']>>>) {
  if (result.status === 'rejected') return result.reason
  const fault = 'fault' in result.value ? result.value.fault : undefined
  return fault && fault.kind !== 'invalid' && fault.kind !== 'not_found' ? fault : undefined
}
