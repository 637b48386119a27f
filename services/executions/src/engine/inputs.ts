import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution } from '../domain/execution.ts'
import * as executions from '../store/executions.ts'

/** Reads the inputs that were too large to be read with their rows. Returns them by execution id. */
export async function readLargeInputs(
  db: Db,
  rows: readonly Execution[],
): Promise<Map<string, string>> {
  const missing = rows.filter(({ input_json }) => input_json === undefined)
  if (missing.length === 0) return new Map()
  const ids = missing.map(({ execution_id }) => execution_id)
  const complete = await executions.getMany(db, ids)
  return new Map(complete.map((row) => [row.execution_id, row.input_json]))
}
