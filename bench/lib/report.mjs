/** Prints rows as an aligned table; numbers with two digits. */
export function table(rows) {
  const columns = Object.keys(rows[0] ?? {})
  const text = (value) =>
    typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(2) : String(value)
  const width = (column) => Math.max(column.length, ...rows.map((row) => text(row[column]).length))
  const line = (cells) =>
    `${columns.map((column) => cells[column].padStart(width(column))).join('  ')}\n`
  const head = line(Object.fromEntries(columns.map((column) => [column, column])))
  const body = rows.map((row) =>
    line(Object.fromEntries(columns.map((column) => [column, text(row[column])]))),
  )
  process.stdout.write(`\n${head}${body.join('')}`)
}
