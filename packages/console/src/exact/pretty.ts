/**
 * Lays JSON text out for reading. The text is cut and never parsed into values: numbers beyond 2^53, the
 * order of members, repeated members and escapes are shown as they are stored.
 */

type Kind = 'key' | 'string' | 'number' | 'word' | 'mark'

interface Token {
  kind: Kind
  text: string
}

/** A line of the layout: how deep it is indented, and its parts. */
export interface Line {
  depth: number
  tokens: Token[]
}

const TOKEN = /"(?:[^"\\]|\\.)*"?|[[\]{},:]|[^\s"[\]{},:]+/g

interface Layout {
  lines: Line[]
  depth: number
  current: Token[]
}

/** Lines of a JSON text, at most `maxLines`; `isCut` is true if there are more. */
export function layOut(text: string, maxLines = 100_000): { lines: Line[]; isCut: boolean } {
  const layout: Layout = { lines: [], depth: 0, current: [] }
  const pattern = new RegExp(TOKEN)
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    place(layout, found[0], { text, end: pattern.lastIndex })
    if (layout.lines.length >= maxLines) return { lines: layout.lines, isCut: true }
  }
  breakLine(layout)
  return { lines: layout.lines, isCut: false }
}

const OPENING = new Set(['{', '['])
const CLOSING = new Set(['}', ']'])

function place(layout: Layout, text: string, at: { text: string; end: number }): void {
  if (CLOSING.has(text)) {
    close(layout, text)
    return
  }
  layout.current.push({ kind: kindOf(text, at), text: text === ':' ? ': ' : text })
  if (text === ',') breakLine(layout)
  if (!OPENING.has(text)) return
  breakLine(layout)
  layout.depth++
}

/** Empty containers stay on one line. */
function close(layout: Layout, text: string): void {
  breakLine(layout)
  layout.depth = Math.max(0, layout.depth - 1)
  const last = layout.lines.at(-1)
  const isEmpty = last?.depth === layout.depth && OPENING.has(last.tokens.at(-1)?.text ?? '')
  if (isEmpty) layout.current = layout.lines.pop()?.tokens ?? []
  layout.current.push({ kind: 'mark', text })
}

function breakLine(layout: Layout): void {
  if (layout.current.length > 0) layout.lines.push({ depth: layout.depth, tokens: layout.current })
  layout.current = []
}

function kindOf(text: string, { text: all, end }: { text: string; end: number }): Kind {
  if (text.startsWith('"')) return /^\s*:/.test(all.slice(end, end + 64)) ? 'key' : 'string'
  if (/^-?\d/.test(text)) return 'number'
  return /^[[\]{},:]$/.test(text) ? 'mark' : 'word'
}
