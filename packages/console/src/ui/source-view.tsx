import { useEffect, useMemo, useRef } from 'preact/hooks'
import { CopyButton } from './copy-button.tsx'
import { linesOf, type SourcePart } from './source-lines.ts'

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
        <h2>Source</h2>
        <span class="faint">{lines.length} lines</span>
        <CopyButton text={source} label="Copy" name="Copy the source" />
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
  parts: readonly SourcePart[]
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
