import { Sql } from '@windlass/runtime/postgres/sql'

/** Name and type of a column, and its value for a row. */
export type Column<Row> = readonly [name: string, type: string, of: (row: Row) => unknown]

/**
 * Up to this number of rows, each value is a parameter; each number of rows is a prepared statement of its
 * own.
 */
const MAX_SCALAR_ROWS = 4

/**
 * Rows as a table of a statement, under an alias. Few rows become a list of values, which halves the
 * database's work for one row; many rows become one array for each column.
 */
export const rowsOf = <Row>(
  alias: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Sql =>
  (rows.length > 0 && rows.length <= MAX_SCALAR_ROWS ? asValues : asArrays)(alias, columns, rows)

function asValues<Row>(alias: string, columns: readonly Column<Row>[], rows: readonly Row[]) {
  const strings: string[] = []
  const values: unknown[] = []
  let text = '(values ('
  for (const [i, row] of rows.entries()) {
    if (i > 0) text += '), ('
    for (const [k, [, type, of]] of columns.entries()) {
      strings.push(k > 0 ? `::${columns[k - 1]?.[1]}, ` : text)
      values.push(of(row) ?? null)
      text = `::${type}`
    }
  }
  strings.push(`${text})) as ${alias}(${columns.map(([name]) => name).join(', ')})`)
  return new Sql(strings, values)
}

function asArrays<Row>(alias: string, columns: readonly Column<Row>[], rows: readonly Row[]) {
  const strings: string[] = ['unnest(']
  const values: unknown[] = []
  for (const [k, [, type, of]] of columns.entries()) {
    values.push(rows.map((row) => of(row) ?? null))
    strings.push(`::${type}[]${k < columns.length - 1 ? ', ' : ''}`)
  }
  strings.push(`${strings.pop()}) as ${alias}(${columns.map(([name]) => name).join(', ')})`)
  return new Sql(strings, values)
}
