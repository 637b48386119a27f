/**
 * Prepares a restored database before the services start.
 *
 * The database is as it was at one moment; workers, tokens, streams and other services have seen what came
 * after it. Nothing of the lost time may be mistaken for the present:
 *
 *   - Claims. A worker that still runs an execution holds a generation that the restored row may give to
 *     another one. All generations are raised above those of the lost time, so every write of an earlier
 *     claim, and every execution token, is refused as stale.
 *   - Holders. The worker that a row names may have finished the execution, or never have got it. All held
 *     executions return to the queue; their logs replay, and what was recorded does not run again.
 *   - Ends. Transaction ids of another server order nothing here (store/restored.ts).
 *
 * What ran in the lost time runs again. The ids of the executions that were held are answered, so that
 * someone can look at their effects.
 */
import { conflict } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Limits } from '../domain/execution.ts'
import * as store from '../store/restored.ts'
import { requeue } from './requeue.ts'
import { WaitingDispatchers } from './waiters.ts'
import { createExecutionWriter } from './writer.ts'

export interface Prepared {
  unfinished: number
  /** Executions that a worker held: they are queued again, or ended if they were being cancelled. */
  requeued: string[]
  /** True if the data came from another PostgreSQL server. */
  isRenumbered: boolean
}

/**
 * Prepares the database; safe to repeat. Throws if the service runs, because its caches would be outdated.
 */
export async function prepareRestored(db: Db, limits: Limits): Promise<Prepared> {
  if (await store.isServiceConnected(db))
    throw conflict('the executions service is connected to this database: stop all services first')
  const isRenumbered = await store.renumberEnds(db)
  const unfinished = await store.raiseGenerations(db)
  const held = await store.listHeld(db)
  const waiters = new WaitingDispatchers()
  const writer = createExecutionWriter({ db, limits, waiters, onCommit: () => {} })
  for (const worker_name of new Set(held.map(({ held_by }) => held_by)))
    await requeue(db, writer, {
      worker_name,
      connection_generation: Number.MAX_SAFE_INTEGER,
      loss: 'released',
    })
  await writer.whenIdle()
  waiters.close()
  return { unfinished, requeued: held.map(({ execution_id }) => execution_id), isRenumbered }
}
