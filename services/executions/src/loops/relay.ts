/**
 * The relay: publishes the terminal events of scheduled executions from the log to JetStream.
 *
 * Problem
 *
 * Other services must learn that an execution has ended if, and only if, the end was committed. A
 * message sent before the commit may announce a change that is rolled back; one sent after it may be lost
 * with the process. A separate outbox table would hold the same facts as the log and cost another write
 * for every step.
 *
 * Protocol
 *
 * The event log is the outbox (ADR 2). Each entry stores `xid`, the transaction that wrote it. The relay
 * reads behind a cursor (xid, execution_id, seq) that is stored in `relay_cursor`:
 *
 *   xid:        701   702   703   704   705   706
 *   entries:     t     -     t    open   t    open      t: terminal event, -: none of interest
 *               --------------- |
 *               cursor .. 703   | pg_snapshot_xmin = 704, the oldest open transaction
 *               published       | 705 waits, although it is committed
 *
 *   begin
 *     pg_try_advisory_xact_lock        another replica has it: done
 *     entries after the cursor, below pg_snapshot_xmin, in order, at most BATCH
 *     publish those of scheduled executions, wait for all acknowledgements
 *                                                         message id <execution_id>:<seq>
 *     move the cursor behind the last one
 *   commit                             without a flush: a lost move repeats events
 *
 * Order of commit
 *
 * PostgreSQL assigns an xid at the first write of a transaction, not at its commit, so a lower xid may
 * become visible after a higher one. A cursor that simply moved to the highest visible xid would then
 * skip entries permanently. No transaction below `pg_snapshot_xmin` can still commit: entries below it are
 * complete, and their order by xid never changes. The order within one execution does not matter here,
 * because an execution has one terminal event.
 *
 * Clocks take no part: neither `time` nor a sequence would do. A sequence has the same gap as the xid
 * and no snapshot to compare it with.
 *
 * Guarantees
 *
 *   - Every committed terminal event of a scheduled execution is published at least once. A crash after
 *     publishing and before the commit repeats a batch with the same message ids, and JetStream and the
 *     consumers drop the duplicates. A crash of PostgreSQL may undo the cursor moves of the last second,
 *     with the same effect.
 *   - Events are published in the order of xid, by one replica at a time.
 *   - No event of a transaction that was rolled back is published.
 *
 * Not guaranteed
 *
 *   - Promptness. A transaction that stays open anywhere in the database stops the relay at its xid
 *     until it ends. Consumers treat an event as a wake-up and read the state, and poll for the rest.
 *   - Other event types: followers of a log are notified on core NATS (engine/notify.ts), best effort.
 *   - Ends of executions that no schedule started: the scheduler, the only consumer, ignores them in every
 *     release. To publish, store, deliver and acknowledge each of them cost about a tenth of an execution.
 *
 * Cost
 *
 * The partial index `events_to_publish` holds terminal events only, so a round reads what it publishes.
 * The loop runs 100 ms after the end of a scheduled execution and every 5 s: a transaction and a round trip
 * to JetStream for each event alone cost more than the event (2026-11-21). While NATS is unreachable no
 * transaction is begun: a relay that waited 10 s for acknowledgements held its lock that long (2026-11-22).
 *
 * Rejected
 *
 *   - An outbox table: one more insert and delete for each event (ADR 2). Services without a log have one.
 *   - Logical replication: no second copy to keep, but a slot that retains WAL while a service is down.
 *   - Publishing in the commit's callback only: lost with the process.
 */
import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import { toDurableMessage } from '@windlass/runtime/postgres/outbox'
import * as cursor from '../store/relay-cursor.ts'

const NAME = 'executions'
const BATCH = 500

/** Publishes one batch of terminal events. Resolves to true if there are more. */
export async function relayTerminalEvents(db: Db, bus: Bus): Promise<boolean> {
  if (!bus.isUp) return false
  return db.tx(async (tx) => {
    if (!(await cursor.lockCursor(tx, NAME))) return false
    const finished = await cursor.listAfterCursor(tx, NAME, BATCH)
    const last = finished.at(-1)
    if (!last) return false
    const scheduled = finished.filter(({ schedule_id }) => schedule_id)
    if (scheduled.length > 0) await bus.publishDurable(scheduled.map(toFinishedMessage))
    await Promise.all([cursor.commitWithoutFlush(tx), cursor.moveCursor(tx, NAME, last)])
    return finished.length === BATCH
  })
}

function toFinishedMessage(row: cursor.FinishedExecution) {
  const { execution_id, seq, state, workflow_namespace, workflow_name, schedule_id = '' } = row
  const { traceparent } = row
  return toDurableMessage(
    'executions',
    execution_id,
    {
      $case: 'execution_finished',
      value: { execution_id, state, workflow_namespace, workflow_name, schedule_id },
    },
    { event_id: `${execution_id}:${seq}`, traceparent },
  )
}
