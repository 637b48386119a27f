import type { Db } from '@windlass/runtime/postgres/db'
import type { Loss } from '../domain/ownership.ts'
import * as deadlines from '../store/deadlines.ts'
import type { ExecutionWriter } from './writer.ts'

export interface LostConnection {
  worker_name: string
  /** Executions that were leased on a later connection stay, because the worker is back. */
  connection_generation: number
  loss: Loss
}

/**
 * Takes from a worker all executions that it holds on connections up to this one; safe to repeat. Returns
 * their number.
 */
export async function requeue(
  db: Db,
  writer: ExecutionWriter,
  { worker_name: held_by, connection_generation: upToConnection, loss }: LostConnection,
): Promise<number> {
  const rows = await deadlines.listHeldBy(db, held_by, upToConnection)
  const command = { kind: 'lose', held_by, upToConnection, loss } as const
  await Promise.all(rows.map(({ execution_id }) => writer.submitOrThrow({ execution_id, command })))
  return rows.length
}
