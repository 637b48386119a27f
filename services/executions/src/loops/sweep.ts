import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { notifyCancelDue } from '../engine/notify.ts'
import type { ExecutionWriter } from '../engine/writer.ts'
import * as sweep from '../store/deadlines.ts'

const BATCH = 500

/**
 * Ends every wait whose deadline has passed: leases nobody claimed, cancels nobody answered, work
 * that waited for longer than it may. Each row is decided anew under its lock, so replicas may sweep
 * together. One that fails, or that somebody has locked, keeps no other back: it is passed, page by
 * page, and looked at again in the next round.
 */
export async function expireOverdue(db: Db, writer: ExecutionWriter, log: Logger): Promise<void> {
  let last: sweep.DeadlineCursor | undefined
  do {
    const due = await sweep.listExpired(db, BATCH, last)
    last = due.length === BATCH ? due.at(-1) : undefined
    const results = await Promise.allSettled(
      due.map(({ execution_id }) => writer.submit({ execution_id, command: { kind: 'expire' } })),
    )
    for (const [i, result] of results.entries())
      if (result.status === 'rejected') {
        const { execution_id } = due[i] as sweep.DeadlineCursor
        log.error({ err: result.reason, execution_id }, 'a deadline cannot be acted upon')
      }
  } while (last)
}

/** Repeats what may have been lost on the way to a worker. */
export async function resendCancels(db: Db, bus: Bus): Promise<void> {
  for (const { held_by, execution_id } of await sweep.listCancelling(db, BATCH))
    notifyCancelDue(bus, held_by, execution_id)
}
