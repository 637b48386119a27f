// Line charts as SVG, one below the other, for the documents.

const WIDTH = 760
const PLOT_HEIGHT = 190
const MARGIN = { left: 64, right: 170, top: 34, bottom: 34 }
const PANEL_HEIGHT = MARGIN.top + PLOT_HEIGHT + MARGIN.bottom
const LABEL_GAP = 13
const TICKS = 5
// Distinguishable without colour vision, on white.
const COLOURS = [
  '#0072b2',
  '#d55e00',
  '#009e73',
  '#cc79a7',
  '#e69f00',
  '#56b4e9',
  '#8c564b',
  '#333',
]

/**
 * Returns an SVG document. A panel is `{ title, x, series: [{ name, values }] }`: `x` has the name and the
 * values of the horizontal axis, each series one value for each of them, undefined or NaN where there is none. Both axes
 * begin at 0.
 */
export function plotSvg(panels) {
  const height = panels.length * PANEL_HEIGHT
  const body = panels.map(
    (panel, i) => `<g transform="translate(0 ${i * PANEL_HEIGHT})">${drawn(panel)}</g>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">
<title>${panels.map((panel) => panel.title).join('; ')}</title>
<rect width="100%" height="100%" fill="#fff"/>
${body.join('\n')}
</svg>
`
}

function drawn({ title, x, series }) {
  const plotWidth = WIDTH - MARGIN.left - MARGIN.right
  const xs = scaleOf(x.values, plotWidth)
  const ys = scaleOf(
    series.flatMap(({ values }) => values.filter(Number.isFinite)),
    PLOT_HEIGHT,
  )
  const px = (value) => round(MARGIN.left + xs.at(value))
  const py = (value) => round(MARGIN.top + PLOT_HEIGHT - ys.at(value))
  const horizontal = ys.ticks.map(
    (tick) =>
      `<path d="M${MARGIN.left} ${py(tick)}h${plotWidth}" stroke="#ddd"/>` +
      text(MARGIN.left - 8, py(tick) + 4, tick, { anchor: 'end' }),
  )
  const vertical = xs.ticks.map((tick) =>
    text(px(tick), MARGIN.top + PLOT_HEIGHT + 16, tick, { anchor: 'middle' }),
  )
  const labels = spread(series.map(({ values }) => py(values.findLast(Number.isFinite) ?? 0)))
  const lines = series.map(({ name, values }, i) => {
    const colour = COLOURS[i % COLOURS.length]
    const path = values
      .map((value, k) => (Number.isFinite(value) ? `${px(x.values[k])} ${py(value)}` : ''))
      .join('L')
      // A line for each stretch without a gap.
      .replaceAll(/L{2,}/g, 'M')
      .replaceAll(/^[LM]+|[LM]+$/g, '')
    return (
      `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="1.6"/>` +
      text(WIDTH - MARGIN.right + 8, labels[i] + 4, name, { fill: colour })
    )
  })
  const heading = text(MARGIN.left, 20, title, { fill: '#111', weight: 'bold' })
  const axis = text(WIDTH - MARGIN.right + 8, MARGIN.top + PLOT_HEIGHT + 16, x.name)
  return [heading, ...horizontal, ...vertical, axis, ...lines].join('')
}

/** Maps 0 to the rounded maximum to the length. */
function scaleOf(values, length) {
  const most = Math.max(...values, 0) || 1
  const magnitude = 10 ** Math.floor(Math.log10(most / TICKS))
  const step = [1, 2, 5, 10].map((n) => n * magnitude).find((one) => one * TICKS >= most)
  const count = Math.ceil(most / step)
  return {
    at: (value) => (value / (step * count)) * length,
    ticks: Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(6))),
  }
}

/** Moves labels apart that would overlap, within the panel; keeps their order. */
function spread(positions) {
  const moved = [...positions]
  const order = positions.map((_, i) => i).sort((a, b) => positions[a] - positions[b])
  for (let k = 1; k < order.length; k++)
    moved[order[k]] = Math.max(moved[order[k]], moved[order[k - 1]] + LABEL_GAP)
  let lowest = MARGIN.top + PLOT_HEIGHT
  for (const i of order.toReversed()) {
    moved[i] = Math.min(moved[i], lowest)
    lowest = moved[i] - LABEL_GAP
  }
  return moved
}

const text = (x, y, content, { anchor = 'start', fill = '#444', weight = 'normal' } = {}) =>
  `<text x="${x}" y="${round(y)}" text-anchor="${anchor}" fill="${fill}" font-weight="${weight}">${escaped(content)}</text>`

const escaped = (content) =>
  String(content).replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`)

const round = (value) => Math.round(value * 10) / 10
