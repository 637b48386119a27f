import type { CapturedLine } from '@windlass/proto/windlass/executions/v1/captured_lines'
import type { Queries } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import type { LineTotals, StoredLine } from '../domain/line-limits.ts'
import { type Column, rowsOf } from './row-values.ts'

/** Lines and bytes that an execution has stored. */
export const readTotals = async (db: Queries, execution_id: string): Promise<LineTotals> =>
  (await db.maybe<LineTotals>(sql`
    select line_count, byte_count from captured_lines
     where execution_id = ${execution_id} order by seq desc limit 1`)) ?? {
    line_count: 0,
    byte_count: 0,
  }

const COLUMNS: Column<StoredLine>[] = [
  ['execution_id', 'uuid', (line) => line.execution_id],
  ['seq', 'bigint', (line) => line.seq],
  ['task_id', 'text', (line) => line.task_id],
  ['task_name', 'text', (line) => line.task_name],
  ['level', 'smallint', (line) => line.level],
  ['logger', 'text', (line) => line.logger],
  ['message', 'text', (line) => line.message],
  ['time', 'text', (line) => line.time],
  ['line_count', 'integer', (line) => line.line_count],
  ['byte_count', 'bigint', (line) => line.byte_count],
]

/** Inserts the lines that do not exist, if their execution is still held under this claim generation. */
export const insertLines = (
  db: Queries,
  claim_generation: number,
  lines: readonly StoredLine[],
): Promise<number> =>
  db.run(sql`
    insert into captured_lines
    select l.* from ${rowsOf('l', COLUMNS, lines)} join executions e using (execution_id)
     where e.claim_generation = ${claim_generation} and e.held_by is not null
    on conflict do nothing`)

export interface LinePage {
  execution_id: string
  after: number
  limit: number
  min_level: number
  task_id?: string | undefined
}

/** Reads the lines after a position, in order. */
export const readPage = (
  db: Queries,
  { execution_id, after, limit, min_level, task_id }: LinePage,
): Promise<CapturedLine[]> =>
  db.rows<CapturedLine>(sql`
    select seq, task_id, task_name, level, logger, message, time from captured_lines
     where execution_id = ${execution_id} and seq > ${after}::bigint and level >= ${min_level}
       ${task_id === undefined ? sql`` : sql`and task_id = ${task_id}`}
     order by seq limit ${limit}`)

/** Deletes the lines of some executions. */
export const deleteLines = (db: Queries, ids: readonly string[]): Promise<number> =>
  db.run(sql`delete from captured_lines where execution_id = any(${ids}::uuid[])`)

/** Deletes the first lines of an execution; returns their number. */
export const deleteSome = (db: Queries, execution_id: string, limit: number): Promise<number> =>
  db.run(sql`
    delete from captured_lines
     where execution_id = ${execution_id} and seq in (
       select seq from captured_lines where execution_id = ${execution_id} order by seq limit ${limit})`)
