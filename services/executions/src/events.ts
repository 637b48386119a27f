import type { Bus, EventHandler } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import { requeue } from './engine/requeue.ts'
import type { ExecutionWriter } from './engine/writer.ts'

/** Requeues the executions of an evicted worker. The dispatcher calls Requeue until it is answered. */
export const onEvent =
  (db: Db, writer: ExecutionWriter): EventHandler =>
  async ({ body }) => {
    if (body?.$case !== 'worker_evicted') return
    await requeue(db, writer, { ...body.value, loss: 'died' })
  }

export const consumeEvents = (bus: Bus, db: Db, writer: ExecutionWriter) =>
  bus.consumeDurable(
    { durable: 'executions-dispatcher', subject: 'dispatcher.worker_evicted' },
    onEvent(db, writer),
  )
