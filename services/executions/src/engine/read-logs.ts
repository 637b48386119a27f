import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution } from '../domain/execution.ts'
import * as log from '../store/log.ts'
import type { LogCache } from './cache/logs.ts'

/** Logs of some rows, each up to the `last_seq` of its row: two rows of one execution have two logs. */
export async function readLogs(
  db: Db,
  cache: LogCache,
  executions: readonly Execution[],
): Promise<Map<Execution, log.StoredEntry[]>> {
  const logs = new Map<Execution, log.StoredEntry[]>()
  const uncached: Execution[] = []
  for (const execution of executions) {
    const cached = cache.get(execution)
    if (cached) logs.set(execution, cached)
    else uncached.push(execution)
  }
  if (uncached.length === 0) return logs
  const ids = uncached.map(({ execution_id }) => execution_id)
  const read = log.byExecution(await log.readAll(db, ids))
  for (const row of uncached) logs.set(row, log.upTo(read.get(row.execution_id) ?? [], row))
  return logs
}
