import { plotSvg } from '../lib/plot.mjs'
import { processesOf, TABLES } from './columns.mjs'

/** The samples of a soak as an SVG document. */
export function plotSamples(stored) {
  const x = { name: 'minutes', values: stored.map(({ seconds }) => seconds / 60) }
  const series = (names) =>
    names.map((name) => ({
      name: name.replace(/_mib$/, ''),
      values: stored.map((one) => one[name] ?? 0),
    }))
  const memory = 'Resident memory, MiB'
  return plotSvg([
    { title: 'Tables and indexes of executions, MiB', x, series: series(TABLES) },
    { title: 'Rows of executions', x, series: series(['live', 'dead']) },
    { title: 'Partitions of the log', x, series: series(['partitions']) },
    { title: memory, x, series: series(processesOf(stored[0])) },
  ])
}
