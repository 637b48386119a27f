/** Columns of a sample that are sizes of tables with their indexes. */
export const TABLES = ['tables_mib', 'executions_mib', 'events_mib', 'captured_lines_mib']

const OTHERS = new Set([
  ...TABLES,
  ...['seconds', 'live', 'dead', 'wal_mib', 'partitions', 'dropped', 'incomplete'],
])

/** Columns of a sample that are the memory of a process. */
export const processesOf = (sample) => Object.keys(sample).filter((name) => !OTHERS.has(name))
