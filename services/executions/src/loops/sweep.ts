import type { Bus } from '@windlass/runtime/bus'
import type { Db } from '@windlass/runtime/db'
import { cancelDue } from '../announce.ts'
import type { Door } from '../change.ts'
import * as sweep from '../store/sweep.ts'

const BATCH = 500

/**
 * Ends every wait whose deadline has passed: leases nobody claimed, cancels nobody answered. Each row
 * is decided anew under its lock, so replicas may sweep together; one that fails keeps no other back.
 * Answers whether there may be more.
 */
export async function expireDue(db: Db, door: Door): Promise<boolean> {
  const due = await sweep.expired(db, BATCH)
  const results = await Promise.allSettled(
    due.map(({ execution_id }) => door.submit({ execution_id, command: { kind: 'expire' } })),
  )
  const done = results.filter(({ status }) => status === 'fulfilled').length
  return due.length === BATCH && done > 0
}

/** Repeats what may have been lost on the way to a worker. */
export async function remindCancelling(db: Db, bus: Bus): Promise<void> {
  for (const { held_by, execution_id } of await sweep.cancelling(db, BATCH))
    cancelDue(bus, held_by, execution_id)
}
