const WORDS =
  'and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield|None|True|False|match|case'

const TOKEN = new RegExp(
  [
    '(?<comment>#.*)',
    '(?<string>[rbfu]{0,2}(?:"""(?:[^\\\\]|\\\\.)*?"""|\'\'\'(?:[^\\\\]|\\\\.)*?\'\'\'|"(?:[^"\\\\\\n]|\\\\.)*"?|\'(?:[^\'\\\\\\n]|\\\\.)*\'?))',
    '(?<decorator>@[\\w.]+)',
    `(?<word>\\b(?:${WORDS})\\b)`,
    '(?<number>\\b\\d[\\w.]*)',
  ].join('|'),
  'gis',
)

/** A piece of Python source. */
export interface SourcePart {
  /** Undefined: names, operators and blanks. */
  kind: string | undefined
  text: string
}

/** Parts of a Python text with their kind; together they are the text. */
function partsOf(source: string): SourcePart[] {
  const parts: SourcePart[] = []
  let at = 0
  for (const match of source.matchAll(new RegExp(TOKEN, 'gi'))) {
    if (match.index > at) parts.push({ kind: undefined, text: source.slice(at, match.index) })
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0]
    parts.push({ kind, text: match[0] })
    at = match.index + match[0].length
  }
  parts.push({ kind: undefined, text: source.slice(at) })
  return parts
}

/** The parts of each line; a text over several lines is divided. */
export function linesOf(source: string): SourcePart[][] {
  const lines: SourcePart[][] = [[]]
  for (const { kind, text } of partsOf(source))
    for (const [i, piece] of text.split('\n').entries()) {
      if (i > 0) lines.push([])
      if (piece !== '') lines.at(-1)?.push({ kind, text: piece })
    }
  return lines
}
