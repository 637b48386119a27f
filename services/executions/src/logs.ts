import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution } from './domain/execution.ts'
import type { RecentLogs } from './recent-logs.ts'
import * as log from './store/log.ts'

/** The logs of some executions as long as their rows say, by id; what is remembered is not read. */
export async function logsOf(
  db: Db,
  recent: RecentLogs,
  executions: readonly Execution[],
): Promise<Map<string, log.Entry[]>> {
  const logs = new Map<string, log.Entry[]>()
  const unknown: Execution[] = []
  for (const execution of executions) {
    const known = recent.of(execution)
    if (known) logs.set(execution.execution_id, known)
    else unknown.push(execution)
  }
  if (unknown.length === 0) return logs
  const ids = unknown.map(({ execution_id }) => execution_id)
  const read = log.byExecution(await log.wholeOf(db, ids))
  for (const row of unknown)
    logs.set(row.execution_id, log.until(read.get(row.execution_id) ?? [], row))
  return logs
}
