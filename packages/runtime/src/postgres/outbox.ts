import { Event } from '@windlass/proto/windlass/events/v1/events'
import { newId } from '../ids.ts'
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

/** The subject, id and bytes under which an event travels. */
export function toDurableMessage(source: string, key: string, body: EventBody, event_id = newId()) {
  const event: Event = { event_id, source, key, at: new Date(), body }
  return {
    event_id,
    subject: `events.${source}.${body.$case}`,
    bytes: Event.encode(event).finish(),
  }
}

/** Records an event in the transaction that made it true. It is published if, and only if, that commits. */
export async function emit(tx: Tx, source: string, key: string, body: EventBody): Promise<void> {
  const { event_id, subject, bytes } = toDurableMessage(source, key, body)
  await tx.run(
    sql`insert into outbox (event_id, subject, body) values (${event_id}, ${subject}, ${Buffer.from(bytes)})`,
  )
}

/**
 * Moves up to one batch of committed events to JetStream, oldest first; answers whether there are
 * more. The lock keeps replicas from reordering each other's events. A crash before the delete
 * repeats events, and JetStream drops repeats by message id within its window. While NATS is away
 * nothing is begun.
 */
export async function relayOutbox(db: Db, bus: Bus): Promise<boolean> {
  if (!bus.isUp) return false
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
