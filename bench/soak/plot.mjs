import { plotSvg } from '../lib/plot.mjs'

/** Columns of a sample that are no process. */
const NO_PROCESS = new Set([
  ...['seconds', 'tables_mib', 'executions_mib', 'events_mib', 'live', 'dead', 'wal_mib'],
])

/** The samples of a soak as an SVG document. */
export function plotSamples(stored) {
  const x = { name: 'minutes', values: stored.map(({ seconds }) => seconds / 60) }
  const series = (names) =>
    names.map((name) => ({
      name: name.replace(/_mib$/, ''),
      values: stored.map((one) => one[name] ?? 0),
    }))
  const processes = Object.keys(stored[0]).filter((name) => !NO_PROCESS.has(name))
  const sizes = ['tables_mib', 'executions_mib', 'events_mib']
  return plotSvg([
    { title: 'Tables and indexes of executions, MiB', x, series: series(sizes) },
    { title: 'Rows of executions', x, series: series(['live', 'dead']) },
    { title: 'Resident memory, MiB', x, series: series(processes) },
  ])
}
