import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution } from '../domain/execution.ts'
import * as executions from '../store/executions.ts'

/** The inputs that were too large to be read with their rows, by id. */
export async function readLargeInputs(
  db: Db,
  rows: readonly Execution[],
): Promise<Map<string, string>> {
  const missing = rows.filter(({ input_json }) => input_json === undefined)
  if (missing.length === 0) return new Map()
  const ids = missing.map(({ execution_id }) => execution_id)
  const whole = await executions.getMany(db, ids)
  return new Map(whole.map((row) => [row.execution_id, row.input_json]))
}
