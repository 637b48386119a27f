/**
 * Wake-ups of parked executions.
 *
 * Problem
 *
 * An execution that waits for others (`wake_on`, domain/parking.ts) must be queued when one of them
 * ends. The end and the wake-up concern two rows; writing both in one transaction would lock rows
 * against the order of ids, and make every end look for parents.
 *
 * Protocol
 *
 *   park     locks the parent and the awaited rows in the order of ids; an awaited row that has ended
 *            leaves the parent queued; otherwise commits the conditions with the parked row
 *   end      is written without any regard to conditions
 *   prompt   the replica that committed the end of a nested run looks up its conditions some 20 ms later
 *            (follow-ends.ts); others have none, unless a worker waits for an execution that it did not start
 *   poll     a cursor behind the terminal events of the log (follow-ends.ts) finds every end once
 *            more, also those of replicas that died after their commit
 *
 * No wake-up is lost: the row lock orders the two commits. If the end is first, park sees it. If park is
 * first, its conditions are visible to every statement that sees the end. The cursor passes only ends
 * that are older than every open transaction, and none that failed here; ends behind a failed one are
 * looked up all the same.
 *
 * A condition carries the claim generation of its parking, so one that was left behind by another
 * wake-up (a time, a cancel) wakes nothing. It is deleted when its execution ends.
 *
 * Wake-ups by time are deadlines of rows (sweep.ts).
 *
 * Cost: one indexed query for each 20 ms in which nested runs end, none for waiting.
 *
 * Rejected
 *
 *   - A query of all conditions whose execution has ended, as the only poll: it grows with the number of
 *     executions that wait.
 *   - Marking the awaited row: a second write, and a conflict with the checkpoint of its worker.
 */
import type { Db } from '@windlass/runtime/postgres/db'
import type { ExecutionWriter } from '../engine/writer.ts'
import * as store from '../store/wake-conditions.ts'

const BATCH = 500

/**
 * Wakes the executions that wait for one of these. A failure for one of them does not stop the others: its
 * condition stays, and this function throws at the end.
 */
export async function wakeAwaiting(
  db: Db,
  writer: ExecutionWriter,
  ended: readonly string[],
): Promise<void> {
  if (ended.length === 0) return
  let failed: Settled | undefined
  let last: store.StoredCondition | undefined
  do {
    const conditions = await store.listOn(db, ended, BATCH, last)
    last = conditions.length === BATCH ? conditions.at(-1) : undefined
    const results = await Promise.allSettled(
      conditions.map(({ execution_id, claim_generation }) =>
        writer.submit({ execution_id, command: { kind: 'wake', claim_generation } }),
      ),
    )
    const done = conditions.filter((_, i) => isApplied(results[i]))
    if (done.length > 0) await store.remove(db, done)
    failed ??= results.find((result) => !isApplied(result))
  } while (last)
  if (failed) throw new Error('an execution could not be woken', { cause: failed })
}

type Settled = PromiseSettledResult<Awaited<ReturnType<ExecutionWriter['submit']>>>

/** True if the row was decided; an execution that no longer exists needs no wake-up. */
const isApplied = (result: Settled | undefined): boolean =>
  result?.status === 'fulfilled' &&
  !('fault' in result.value && result.value.fault.kind !== 'not_found')
