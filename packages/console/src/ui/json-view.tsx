import { useMemo, useState } from 'preact/hooks'
import { layOut } from '../exact/pretty.ts'
import { bytes, count } from '../format/time.ts'
import { CopyButton } from './copy-button.tsx'

/** Beyond this the text is shown as it is: colours cost more than they help. */
const MAX_COLOURED_CHARS = 200_000
const FIRST_CHARS = 200_000
const MAX_LINES = 5_000

/** A payload exactly as it is stored; its layout adds blanks and line breaks only. */
export function JsonView({ title, text }: { title: string; text: string }) {
  const [isRaw, setRaw] = useState(false)
  const [isWhole, setWhole] = useState(false)
  const other = isRaw ? 'Laid out' : 'As stored'
  const isLong = text.length > MAX_COLOURED_CHARS
  const layout = useMemo(() => (isLong ? undefined : layOut(text, MAX_LINES)), [text, isLong])
  const shown = isWhole ? text : text.slice(0, FIRST_CHARS)
  const isCut = isLong ? shown.length < text.length : layout?.isCut && !isRaw
  return (
    <section aria-label={title}>
      <div class="payload-head">
        <h2>{title}</h2>
        <span class="faint">{bytes(new Blob([text]).size)}</span>
        {!isLong && (
          <button
            type="button"
            class="quiet"
            aria-label={`${other}: ${title}`}
            onClick={() => setRaw(!isRaw)}
          >
            {other}
          </button>
        )}
        <CopyButton text={text} label="Copy" name={`Copy: ${title}`} />
      </div>
      <pre class="json" tabIndex={0} role="region" aria-label={`${title}, text`}>
        {layout && !isRaw ? <Lines layout={layout} /> : shown}
      </pre>
      {isCut && (
        <p class="stale">
          Cut:{' '}
          {isLong
            ? `the first ${count(shown.length)} of ${count(text.length)} characters`
            : `the first ${count(MAX_LINES)} lines`}
          .
          {isLong && (
            <button
              type="button"
              aria-label={`Show all of ${title}`}
              onClick={() => setWhole(true)}
            >
              Show all
            </button>
          )}
        </p>
      )}
    </section>
  )
}

const Lines = ({ layout: { lines } }: { layout: ReturnType<typeof layOut> }) => (
  <>
    {lines.map(({ depth, tokens }, i) => (
      <span key={i}>
        {'  '.repeat(depth)}
        {tokens.map(({ kind, text }, j) => (
          <span key={j} class={kind}>
            {text}
          </span>
        ))}
        {'\n'}
      </span>
    ))}
  </>
)
