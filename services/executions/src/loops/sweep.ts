import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { notifyCancelDue } from '../engine/notify.ts'
import type { ExecutionWriter } from '../engine/writer.ts'
import * as deadlines from '../store/deadlines.ts'
import { cancelChildren } from './cancel-children.ts'

const BATCH = 500

/**
 * Expires overdue executions: unclaimed leases, unanswered cancels, and work that was queued for longer
 * than its queue_timeout. Each is decided under the lock of its row, so all replicas may sweep. A row that
 * fails or is locked does not delay the others: the sweep continues after it, and the next sweep tries it
 * again.
 */
export async function expireOverdue(db: Db, writer: ExecutionWriter, log: Logger): Promise<void> {
  let last: deadlines.DeadlineCursor | undefined
  do {
    const rows = await deadlines.listExpired(db, BATCH, last)
    last = rows.length === BATCH ? rows.at(-1) : undefined
    const results = await Promise.allSettled(
      rows.map(({ execution_id }) => writer.submit({ execution_id, command: { kind: 'expire' } })),
    )
    for (const [i, result] of results.entries())
      if (result.status === 'rejected')
        log.error(
          { err: result.reason, execution_id: rows[i]?.execution_id },
          'failed to expire execution',
        )
  } while (last)
}

/**
 * Repeats the effects of a cancel while the worker has not answered it: the wake-up of the worker and the
 * cancel of nested runs. Either may have been lost.
 */
export async function resendCancels(db: Db, bus: Bus, writer: ExecutionWriter): Promise<void> {
  const cancelling = await deadlines.listCancelling(db, BATCH)
  // A dispatch after the cancel is itself the request to cancel: a frame before it would end the execution.
  for (const cancelled of cancelling) if (!cancelled.passed_over) notifyCancelDue(bus, cancelled)
  await cancelChildren(
    db,
    writer,
    cancelling.map(({ execution_id }) => execution_id),
  )
}
