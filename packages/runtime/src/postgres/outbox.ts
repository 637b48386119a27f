/*
 * The outbox: events leave a service if, and only if, its transaction committed.
 *
 * Problem. A service changes its database and publishes an event. Publish first, and a rollback
 * leaves an event of something that never happened; publish after the commit, and a crash between
 * the two loses it. There is no transaction over Postgres and NATS.
 *
 * Protocol. `emit` inserts the event into the table `outbox` in the transaction that makes it true.
 * `relayOutbox`, called by a loop that the service wakes after its commits, publishes the rows in
 * order of `position` and deletes them once JetStream has acknowledged them.
 *
 *      transaction:  update …; insert into outbox (event_id, subject, body); commit
 *      relay:        try advisory lock -> select oldest rows -> publish -> delete -> commit
 *
 * Order. The lock is per schema, so one replica relays at a time and batches never overtake one
 * another. `position` is taken from a sequence before the commit: of two transactions that run at
 * the same time, the one with the smaller position can commit, and be published, later. Order is
 * therefore guaranteed between events of which one transaction saw the other committed, in
 * particular between events of one row. No consumer relies on more.
 *
 * The log as outbox. `executions` has no such table for its terminal events: its event log is
 * written in the same transaction already. A cursor over (xid, execution_id, seq) reads entries
 * whose transaction id is below `pg_snapshot_xmin`: no open transaction can still add an entry
 * before them, so none is skipped (services/executions, loops/relay). It uses `toDurableMessage`
 * with an event id made of execution id and sequence number.
 *
 * Failures.
 * - Crash between publish and delete: the rows are published again with the same event ids, and
 *   JetStream drops them within its deduplication window. Consumers are idempotent beyond it.
 * - NATS unavailable: nothing is begun; rows stay, and the loop's pause is the retry.
 * - The replica that holds the lock hangs: the transaction ends by the idle-in-transaction limit of
 *   the pool, and another replica continues.
 */
import { Event } from '@windlass/proto/windlass/events/v1/events'
import { newId } from '../ids.ts'
import { cachedRead } from '../metrics/cached-read.ts'
import { outboxEvents } from '../metrics/metrics.ts'
import type { Bus } from '../nats/bus.ts'
import type { Db, Tx } from './db.ts'
import { sql } from './sql.ts'

export type EventBody = NonNullable<Event['body']>

interface Row {
  position: number
  event_id: string
  subject: string
  body: Buffer
}

const MAX_BATCH_SIZE = 100

/** Id of an event, if its cause determines it, and the trace context of its cause. */
interface EventOptions {
  event_id?: string
  traceparent?: string | undefined
}

/** Encodes an event as a durable message: subject, id and bytes. */
export function toDurableMessage(
  source: string,
  key: string,
  body: EventBody,
  { event_id = newId(), traceparent }: EventOptions = {},
) {
  const event: Event = { event_id, source, key, at: new Date(), traceparent, body }
  return {
    event_id,
    subject: `events.${source}.${body.$case}`,
    bytes: Event.encode(event).finish(),
  }
}

/** Service, key and trace context of the reported change. */
interface Origin {
  source: string
  key: string
  traceparent?: string | undefined
}

/** Stores an event in the transaction that makes it true; it is published if, and only if, that commits. */
export async function emit(tx: Tx, origin: Origin, body: EventBody): Promise<void> {
  const { source, key, traceparent } = origin
  const { event_id, subject, bytes } = toDurableMessage(source, key, body, { traceparent })
  await tx.run(
    sql`insert into outbox (event_id, subject, body) values (${event_id}, ${subject}, ${Buffer.from(bytes)})`,
  )
}

/** Observes the number of events that wait for the relay while metrics are collected; returns `stop`. */
export function observeOutbox(db: Db): () => void {
  const read = cachedRead(() =>
    db.maybe<{ events: number }>(sql`select count(*)::int as events from outbox`),
  )
  return outboxEvents.observe(async (report) => {
    const row = await read()
    if (row) report(row.events)
  })
}

/**
 * Publishes up to one batch of stored events, oldest first, and deletes them; returns true if there are
 * more.
 */
export async function relayOutbox(db: Db, bus: Bus): Promise<boolean> {
  if (!bus.isUp) return false
  // One statement instead of a transaction for rounds that find nothing, which are most of them.
  const found = await db.maybe<{ position: number }>(sql`select position from outbox limit 1`)
  if (!found) return false
  return db.tx(async (tx) => {
    const lock = await tx.maybe<{ held: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtext(current_schema() || '.outbox')) as held`,
    )
    if (!lock?.held) return false
    const batch = await tx.rows<Row>(
      sql`select position, event_id, subject, body from outbox order by position limit ${MAX_BATCH_SIZE}`,
    )
    if (batch.length === 0) return false
    await bus.publishDurable(
      batch.map(({ subject, body, event_id }) => ({ subject, bytes: body, event_id })),
    )
    await tx.run(
      sql`delete from outbox where position = any(${batch.map((row) => row.position)}::bigint[])`,
    )
    return batch.length === MAX_BATCH_SIZE
  })
}
