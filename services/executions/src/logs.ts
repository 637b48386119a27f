import type { Db } from '@windlass/runtime/db'
import type { Execution } from './domain/execution.ts'
import type { RecentLogs } from './recent-logs.ts'
import * as log from './store/log.ts'

/** The whole logs of some executions, by id; what is remembered is not read. */
export async function logsOf(
  db: Db,
  recent: RecentLogs,
  executions: readonly Execution[],
): Promise<Map<string, log.Entry[]>> {
  const logs = new Map<string, log.Entry[]>()
  const unknown: string[] = []
  for (const execution of executions) {
    const known = recent.of(execution)
    if (known) logs.set(execution.execution_id, known)
    else unknown.push(execution.execution_id)
  }
  if (unknown.length === 0) return logs
  return new Map([...logs, ...log.byExecution(await log.wholeOf(db, unknown))])
}
