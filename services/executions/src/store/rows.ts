import { Sql } from '@windlass/runtime/sql'

/** Name and type of a column. */
export type Column = readonly [name: string, type: string]

/** Up to here each value is a parameter of its own; every count is a statement of its own. */
const MAX_SCALAR_ROWS = 4

/**
 * Rows to take part in a statement, under an alias. Few of them are spelled out, which spares the
 * database half of its work for one; many go as one array a column.
 */
export const rowsOf = (
  alias: string,
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
): Sql =>
  (rows.length > 0 && rows.length <= MAX_SCALAR_ROWS ? spelledOut : gathered)(alias, columns, rows)

function spelledOut(
  alias: string,
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
) {
  const strings: string[] = []
  const values: unknown[] = []
  let text = '(values ('
  for (const [i, row] of rows.entries()) {
    if (i > 0) text += '), ('
    for (const [k, [, type]] of columns.entries()) {
      strings.push(k > 0 ? `::${columns[k - 1]?.[1]}, ` : text)
      values.push(row[k] ?? null)
      text = `::${type}`
    }
  }
  strings.push(`${text})) as ${alias}(${columns.map(([name]) => name).join(', ')})`)
  return new Sql(strings, values)
}

function gathered(
  alias: string,
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
) {
  const strings: string[] = ['unnest(']
  const values: unknown[] = []
  for (const [k, [, type]] of columns.entries()) {
    values.push(rows.map((row) => row[k] ?? null))
    strings.push(`::${type}[]${k < columns.length - 1 ? ', ' : ''}`)
  }
  strings.push(`${strings.pop()}) as ${alias}(${columns.map(([name]) => name).join(', ')})`)
  return new Sql(strings, values)
}
