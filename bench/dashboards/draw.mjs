import { plotSvg } from '../lib/plot.mjs'

const MEBIBYTE = 2 ** 20
const MINUTE_S = 60
/** More series than this are not distinguishable. */
const MAX_SERIES = 8
const MAX_NAME = 22

/** Units of Grafana: what stands behind the title, and the factor of the values. */
const UNITS = {
  ops: [', per second', 1],
  reqps: [', per second', 1],
  s: [', seconds', 1],
  percentunit: [', %', 100],
  bytes: [', MiB', 1 / MEBIBYTE],
  short: ['', 1],
}

/**
 * Draws panels with their series, as Prometheus answers them, as an SVG document. `start` and `end` are in seconds
 * since 1970.
 */
export function drawDashboard(panels, { start, end }) {
  return plotSvg(panels.map((panel) => toPlot(panel, start, end)))
}

function toPlot({ title, unit, series }, start, end) {
  const [behind, factor] = UNITS[unit]
  const times = [...new Set(series.flatMap(({ values }) => values.map(([at]) => at)))].sort(
    (a, b) => a - b,
  )
  const lines = series
    .map(({ metric, values, legend }) => {
      const byTime = new Map(values.map(([at, value]) => [at, Number(value) * factor]))
      return { name: nameOf(legend, metric), values: times.map((at) => byTime.get(at)) }
    })
    .sort((a, b) => largest(b) - largest(a))
  const shown = lines.slice(0, MAX_SERIES)
  const part = shown.length < lines.length ? ` (largest ${MAX_SERIES} of ${lines.length})` : ''
  const none = lines.length === 0 ? ' (nothing happened)' : ''
  return {
    title: `${title}${behind}${part}${none}`,
    x: {
      name: 'minutes',
      values: (times.length > 0 ? times : [start, end]).map((at) => (at - start) / MINUTE_S),
    },
    series: shown,
  }
}

const largest = ({ values }) => Math.max(...values.filter(Number.isFinite), 0)

function nameOf(legend, metric) {
  const name = legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '')
  return name.length > MAX_NAME ? `…${name.slice(1 - MAX_NAME)}` : name
}
