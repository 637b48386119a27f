import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution } from '../domain/execution.ts'
import * as log from '../store/log.ts'
import type { LogCache } from './cache/logs.ts'

/** The logs of some rows, each as long as its row says: two rows of one execution have two logs. */
export async function readLogs(
  db: Db,
  recent: LogCache,
  executions: readonly Execution[],
): Promise<Map<Execution, log.StoredEntry[]>> {
  const logs = new Map<Execution, log.StoredEntry[]>()
  const unknown: Execution[] = []
  for (const execution of executions) {
    const known = recent.get(execution)
    if (known) logs.set(execution, known)
    else unknown.push(execution)
  }
  if (unknown.length === 0) return logs
  const ids = unknown.map(({ execution_id }) => execution_id)
  const read = log.byExecution(await log.wholeOf(db, ids))
  for (const row of unknown) logs.set(row, log.upTo(read.get(row.execution_id) ?? [], row))
  return logs
}
