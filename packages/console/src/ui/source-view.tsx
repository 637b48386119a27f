import { useEffect, useMemo, useRef } from 'preact/hooks'
import { CopyButton } from './copy-button.tsx'

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

interface Part {
  kind: string | undefined
  text: string
}

/** Parts of a Python text with their kind; together they are the text. */
function partsOf(source: string): Part[] {
  const parts: Part[] = []
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
function linesOf(source: string): Part[][] {
  const lines: Part[][] = [[]]
  for (const { kind, text } of partsOf(source))
    for (const [i, piece] of text.split('\n').entries()) {
      if (i > 0) lines.push([])
      if (piece !== '') lines.at(-1)?.push({ kind, text: piece })
    }
  return lines
}

/** What is known about a line: a shape and a word, which stands behind it. */
export interface LineMark {
  kind: 'failed' | 'passed' | 'running'
  word: string
}

const SHAPES: Record<LineMark['kind'], string> = { failed: '✕', passed: '↓', running: '▶' }

interface Props {
  source: string
  marks?: ReadonlyMap<number, LineMark>
  /** A line to bring into view, from 1; 0 for none. */
  line?: number
}

const NO_MARKS: ReadonlyMap<number, LineMark> = new Map()

/** Python source with the numbers of its lines. */
export function SourceView({ source, marks = NO_MARKS, line = 0 }: Props) {
  const lines = useMemo(() => linesOf(source), [source])
  return (
    <section aria-label="Source">
      <div class="payload-head">
        <h2>{lines.length} lines</h2>
        <CopyButton text={source} label="Copy" />
      </div>
      <pre class="json source" tabIndex={0} role="region" aria-label="Source, text">
        <span class="numbers" aria-hidden="true">
          {lines.map((_, i) => i + 1).join('\n')}
        </span>
        <code>
          {lines.map((parts, i) => (
            <Line key={i} parts={parts} mark={marks.get(i + 1)} isShown={line === i + 1} />
          ))}
        </code>
      </pre>
    </section>
  )
}

interface LineProps {
  parts: readonly Part[]
  mark: LineMark | undefined
  isShown: boolean
}

function Line({ parts, mark, isShown }: LineProps) {
  const element = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isShown) element.current?.scrollIntoView({ block: 'center' })
  }, [isShown])
  const text = parts.map(({ kind, text: piece }, i) =>
    kind ? (
      <span key={i} class={`py-${kind}`}>
        {piece}
      </span>
    ) : (
      piece
    ),
  )
  if (!mark && !isShown)
    return (
      <>
        {text}
        {'\n'}
      </>
    )
  return (
    <>
      <mark ref={element} class={`source-line ${mark?.kind ?? 'linked'}`}>
        {text}
        <span class="source-note">
          {mark ? ` ${SHAPES[mark.kind]} ${mark.word}` : ' ← this line'}
        </span>
      </mark>
      {'\n'}
    </>
  )
}
