import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import { toDurableMessage } from '@windlass/runtime/postgres/outbox'
import * as relays from '../store/relay-cursor.ts'

const BATCH = 500

/**
 * Publishes the endings that were committed since the last round, in the order of commit; the event
 * log is the outbox. A crash before the cursor moves repeats them under the same ids. While NATS is
 * away nothing is begun. Answers whether there are more.
 */
export async function relayTerminalEvents(db: Db, bus: Bus): Promise<boolean> {
  if (!bus.isUp) return false
  return db.tx(async (tx) => {
    if (!(await relays.lockCursor(tx))) return false
    const finished = await relays.listAfterCursor(tx, BATCH)
    const last = finished.at(-1)
    if (!last) return false
    await bus.publishDurable(finished.map(toFinishedMessage))
    await relays.moveCursor(tx, last)
    return finished.length === BATCH
  })
}

function toFinishedMessage(row: relays.FinishedExecution) {
  const { execution_id, seq, state, workflow_namespace, workflow_name, schedule_id = '' } = row
  return toDurableMessage(
    'executions',
    execution_id,
    {
      $case: 'execution_finished',
      value: { execution_id, state, workflow_namespace, workflow_name, schedule_id },
    },
    `${execution_id}:${seq}`,
  )
}
