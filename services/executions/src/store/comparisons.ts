import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { DigestedEntry } from '../domain/compare-calls.ts'
import { ofLog } from './log.ts'
import { type ListedRow, listedColumns } from './search.ts'

/** Larger inputs are compared only as a whole. */
const SMALL_BYTES = 1_048_576

/** A row in the form that searches list. */
export const readRow = (db: Queries, execution_id: string) =>
  db.maybe<ListedRow>(sql`
    select ${listedColumns}, 0 as micros from executions e where execution_id = ${execution_id}`)

/** Reads the call entries of a log with digests of their values, in order; at most `limit`. */
export const readDigests = (db: Queries, execution_id: string, limit: number) =>
  db.rows<DigestedEntry>(sql`
    select seq, type, source_id, name, time, md5(value::text) as digest
      from events where ${ofLog(execution_id)} and seq <= ${limit}::bigint
       and type like 'TASK!_%' escape '!' order by seq`)

/** Compares inputs and outputs, character by character; two absent outputs are equal. */
export async function compareTexts(db: Queries, a: string, b: string) {
  const found = await db.maybe<{ same_input: boolean; same_output: boolean }>(sql`
    select a.input::text = b.input::text as same_input,
           a.output::text is not distinct from b.output::text as same_output
      from executions a, executions b
     where a.execution_id = ${a} and b.execution_id = ${b}`)
  return found ?? { same_input: false, same_output: false }
}

/** Reads inputs of moderate size, by execution id. */
export async function readSmallInputs(db: Queries, ids: readonly string[]) {
  const rows = await db.rows<{ execution_id: string; input_json: string }>(sql`
    select execution_id, input as input_json from executions
     where execution_id = any(${ids}::uuid[]) and octet_length(input::text) <= ${SMALL_BYTES}::int`)
  return new Map(rows.map((row) => [row.execution_id, row.input_json]))
}
