import { isTerminal } from '@windlass/domain/states'
import type { Tx } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { Execution } from '../src/domain/execution.ts'
import * as executions from '../src/store/executions.ts'
import { saveRequirement } from '../src/store/ready.ts'

/** Deadline of a row that has one. */
export type Deadline = 'passed' | 'ahead'

export const REQUIREMENT_ID = '0'.repeat(32)

export const seedRequirement = async (tx: Tx) =>
  void (await saveRequirement(tx, REQUIREMENT_ID, '{}'))

/** Inserts a row in any state, with a deadline where a constraint requires one. */
export async function seedRow(tx: Tx, row: Execution, deadline: Deadline): Promise<void> {
  const { execution_id } = row
  await executions.insert(tx, [{ ...row, priority: 5 }])
  await executions.update(tx, [
    {
      before: row,
      next: row,
      deadlineMs: hasDeadline(row) ? 3_600_000 : undefined,
      enteredQueue: false,
    },
  ])
  await tx.run(sql`
    update executions
       set queued_at = queued_at - interval '1 hour',
           deadline_at = case when ${deadline} = 'passed' then deadline_at - interval '2 hours'
                              else deadline_at end
     where execution_id = ${execution_id}`)
}

/** True if the sweeper acts on the row: its holder can vanish unnoticed, or its wait is bounded, or it is parked for a time. */
export const hasDeadline = ({
  state,
  held_by,
  queued,
  parked,
  queue_timeout_ms,
}: Execution): boolean =>
  queued
    ? queue_timeout_ms !== undefined
    : !isTerminal(state) &&
      (parked ||
        ['RESUME_SCHEDULED', 'CANCELLING'].includes(state) ||
        (state === 'SCHEDULED' && held_by !== undefined))
