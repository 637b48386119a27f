/** Rows as text for other programs. */
import type { ExecutionRow } from '../api/executions.ts'

export type Format = 'csv' | 'ndjson'

const COLUMNS = [
  'execution_id',
  'workflow_namespace',
  'workflow_name',
  'state',
  'worker_name',
  'created_at',
  'updated_at',
  'finished_at',
  'error',
] as const

/** Spreadsheets evaluate a text that begins with one of these characters. */
const FORMULA = /^[=+\-@\t\r]/

/** Returns a value in quotes; a text that a spreadsheet would evaluate begins with an apostrophe. */
function cellOf(value: string | null | undefined): string {
  const text = value ?? ''
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}

/** The rows with a head and CRLF (RFC 4180), or as one JSON object in each line. */
export function textOf(rows: readonly ExecutionRow[], format: Format): string {
  if (format === 'ndjson') return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const lines = rows.map((row) => COLUMNS.map((name) => cellOf(row[name])).join(','))
  return [COLUMNS.join(','), ...lines, ''].join('\r\n')
}
