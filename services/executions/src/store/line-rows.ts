import type { CapturedLine } from '@windlass/proto/windlass/executions/v1/captured_lines'
import type { Queries } from '@windlass/runtime/postgres/db'
import { Sql, sql } from '@windlass/runtime/postgres/sql'
import type { LineTotals, StoredLine } from '../domain/line-limits.ts'
import { ofLog } from './log.ts'
import { type Column, rowsOf } from './row-values.ts'

/** Lines and bytes that an execution has stored. */
export const readTotals = async (db: Queries, execution_id: string): Promise<LineTotals> =>
  (await db.maybe<LineTotals>(sql`
    select line_count, byte_count from captured_lines
     where ${ofLog(execution_id)} order by seq desc limit 1`)) ?? {
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

const insertedColumns = new Sql([COLUMNS.map(([name]) => name).join(', ')], [])

/**
 * Inserts the lines that do not exist, if their execution is still held under this claim generation, in the
 * partition of its log. The lock keeps that from changing: a move to partition 0 would miss lines that are not
 * committed, and their partition might be dropped.
 */
export const insertLines = (
  db: Queries,
  claim_generation: number,
  lines: readonly StoredLine[],
): Promise<number> =>
  db.run(sql`
    insert into captured_lines (${insertedColumns}, part)
    select l.*, e.log_part from ${rowsOf('l', COLUMNS, lines)} join executions e using (execution_id)
     where e.claim_generation = ${claim_generation} and e.held_by is not null
       for key share of e
    on conflict do nothing`)

export interface LinePage {
  execution_id: string
  after: number
  limit: number
  min_level: number
  task_id?: string | undefined
}

/**
 * Reads the lines after a position, in order. Replicas of earlier releases write to partition 0, so a repeated
 * request may have stored a line there too.
 */
export const readPage = (
  db: Queries,
  { execution_id, after, limit, min_level, task_id }: LinePage,
): Promise<CapturedLine[]> =>
  db.rows<CapturedLine>(sql`
    select distinct on (seq) seq, task_id, task_name, level, logger, message, time from captured_lines
     where ${ofLog(execution_id)} and seq > ${after}::bigint and level >= ${min_level}
       ${task_id === undefined ? sql`` : sql`and task_id = ${task_id}`}
     order by seq limit ${limit}`)

/** Deletes the lines of some executions, in one partition or in all. */
export const deleteLines = (db: Queries, ids: readonly string[], part?: number): Promise<number> =>
  db.run(sql`
    delete from captured_lines
     where execution_id = any(${ids}::uuid[])
       ${part === undefined ? sql`` : sql`and part = ${part}`}`)

/** Deletes the first lines of an execution; returns their number. */
export const deleteSome = (db: Queries, execution_id: string, limit: number): Promise<number> =>
  db.run(sql`
    delete from captured_lines
     where execution_id = ${execution_id} and seq in (
       select seq from captured_lines where execution_id = ${execution_id} order by seq limit ${limit})`)
