import type { Db } from '@windlass/runtime/postgres/db'
import type { Loss } from '../domain/ownership.ts'
import * as sweep from '../store/deadlines.ts'
import type { ExecutionWriter } from './writer.ts'

export interface LostConnection {
  worker_name: string
  /** Work that was given on a later connection is not touched: the worker is back. */
  connection_generation: number
  loss: Loss
}

/** Takes from a worker all it held on connections up to one; safe to repeat. Answers how many there were. */
export async function requeue(
  db: Db,
  writer: ExecutionWriter,
  { worker_name, connection_generation, loss }: LostConnection,
): Promise<number> {
  const held = await sweep.listHeldBy(db, worker_name, connection_generation)
  await Promise.all(
    held.map(({ execution_id }) =>
      writer.submitOrThrow({
        execution_id,
        command: {
          kind: 'lose',
          held_by: worker_name,
          upToConnection: connection_generation,
          loss,
        },
      }),
    ),
  )
  return held.length
}
