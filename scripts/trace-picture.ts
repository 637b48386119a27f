/** A span as the picture needs it; times in milliseconds from any moment. */
export interface PictureSpan {
  id: string
  parent_id: string
  service: string
  name: string
  start_ms: number
  end_ms: number
  failed: boolean
}

const ROW_PX = 20
const HEAD_PX = 34
const NAMES_PX = 400
const TIME_PX = 520
const WIDTH_PX = NAMES_PX + TIME_PX + 70
const INDENT_PX = 12
const MIN_BAR_PX = 2
const MAX_NAME_CHARS = 46
const COLOURS = ['#3b6fb5', '#2f8f6b', '#b5762f', '#8a4fb0', '#a83f5b', '#5b6770']

/**
 * Draws a trace as SVG: one row for each span, children below their parents in the order of their start, with the
 * time in which nothing was recorded for longer than `gapMs` left out.
 */
export function tracePicture(spans: readonly PictureSpan[], gapMs: number): string {
  const rows = inOrder(spans)
  const { toX, gaps } = timeScale(spans, gapMs)
  const services = [...new Set(rows.map(({ span }) => span.service))]
  const colourOf = (service: string) => COLOURS[services.indexOf(service) % COLOURS.length]
  const height = HEAD_PX + rows.length * ROW_PX + 10
  const legend = services.map((service, i) => {
    const x = 8 + i * 150
    return `<rect x="${x}" y="8" width="10" height="10" fill="${colourOf(service)}"/><text x="${x + 15}" y="17">${escapeXml(service)}</text>`
  })
  const lines = rows.map(({ span, depth }, i) => {
    const y = HEAD_PX + i * ROW_PX
    const x = toX(span.start_ms)
    const width = Math.max(MIN_BAR_PX, toX(span.end_ms) - x)
    const stroke = span.failed ? ' stroke="#c00000" stroke-width="1.5"' : ''
    const name =
      span.name.length > MAX_NAME_CHARS ? `${span.name.slice(0, MAX_NAME_CHARS)}…` : span.name
    return [
      `<text x="${8 + depth * INDENT_PX}" y="${y + 14}">${escapeXml(name)}</text>`,
      `<rect x="${x.toFixed(1)}" y="${y + 4}" width="${width.toFixed(1)}" height="12" fill="${colourOf(span.service)}"${stroke}/>`,
      `<text x="${(x + width + 4).toFixed(1)}" y="${y + 14}" fill="#666">${(span.end_ms - span.start_ms).toFixed(1)} ms</text>`,
    ].join('')
  })
  const marks = gaps.map(
    ({ x, ms }) =>
      `<line x1="${x.toFixed(1)}" y1="${HEAD_PX}" x2="${x.toFixed(1)}" y2="${height - 6}" stroke="#999" stroke-dasharray="3 3"/><text x="${(x + 3).toFixed(1)}" y="${HEAD_PX - 3}" fill="#666">${ms.toFixed(0)} ms left out</text>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH_PX}" height="${height}" viewBox="0 0 ${WIDTH_PX} ${height}" font-family="sans-serif" font-size="11">`,
    '<title>Spans of one execution</title>',
    `<rect width="${WIDTH_PX}" height="${height}" fill="#fff"/>`,
    ...legend,
    ...marks,
    ...lines,
    '</svg>',
    '',
  ].join('\n')
}

/** Spans below their parents, depth first; those whose parent is not among them are roots. */
function inOrder(spans: readonly PictureSpan[]): { span: PictureSpan; depth: number }[] {
  const known = new Set(spans.map(({ id }) => id))
  const sorted = [...spans].sort((a, b) => a.start_ms - b.start_ms)
  const below = (
    parent: string | undefined,
    depth: number,
  ): { span: PictureSpan; depth: number }[] =>
    sorted
      .filter((span) =>
        parent === undefined ? !known.has(span.parent_id) : span.parent_id === parent,
      )
      .flatMap((span) => [{ span, depth }, ...below(span.id, depth + 1)])
  return below(undefined, 0)
}

/** A scale without the gaps in which no span starts or ends for longer than `gapMs`. */
function timeScale(spans: readonly PictureSpan[], gapMs: number) {
  const moments = spans.flatMap(({ start_ms, end_ms }) => [start_ms, end_ms]).sort((a, b) => a - b)
  const cuts: { from: number; ms: number }[] = []
  for (const [i, moment] of moments.entries()) {
    const ms = moment - (moments[i - 1] ?? moment)
    if (ms > gapMs) cuts.push({ from: moments[i - 1] as number, ms: ms - gapMs })
  }
  const first = moments[0] ?? 0
  const shown = (ms: number) =>
    ms - first - cuts.filter(({ from }) => from < ms).reduce((sum, cut) => sum + cut.ms, 0)
  const total = shown(moments.at(-1) ?? 1) || 1
  const toX = (ms: number) => NAMES_PX + (shown(ms) / total) * TIME_PX
  return { toX, gaps: cuts.map(({ from, ms }) => ({ x: toX(from), ms })) }
}

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
