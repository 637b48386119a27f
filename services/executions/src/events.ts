import type { Bus, EventHandler } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Door } from './change.ts'
import { requeue } from './requeue.ts'

/** An evicted worker's work goes back to the queue. The dispatcher also says so itself until it is done. */
export const hear =
  (db: Db, door: Door): EventHandler =>
  async ({ body }) => {
    if (body?.$case !== 'worker_evicted') return
    await requeue(db, door, { ...body.value, loss: 'died' })
  }

export const listen = (bus: Bus, db: Db, door: Door) =>
  bus.consumeDurable(
    { durable: 'executions-dispatcher', subject: 'dispatcher.worker_evicted' },
    hear(db, door),
  )
