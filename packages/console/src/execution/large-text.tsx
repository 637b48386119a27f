import { useEffect, useRef, useState } from 'preact/hooks'
import { readPart } from '../api/payload.ts'
import { readBlob } from '../api/server.ts'
import { useQuery } from '../api/use-query.ts'
import { PART_BYTES } from '../exact/decode-part.ts'
import { bytes } from '../format/time.ts'
import { FailureText } from '../ui/failure-text.tsx'
import { Loaded } from '../ui/feedback.tsx'
import { useAct } from '../ui/use-act.ts'

interface Props {
  title: string
  path: string
  totalBytes: number
  /** Text of the first part. */
  first: string
}

/**
 * A text of megabytes: each part is read and drawn when it comes into view, so that no task takes longer
 * than one part does.
 */
export function LargeText({ title, path, totalBytes, first }: Props) {
  const frame = useRef<HTMLDivElement>(null)
  const { isBusy, failure, act } = useAct()
  const parts = Math.ceil(totalBytes / PART_BYTES)
  const copy = () =>
    act(async () => navigator.clipboard.writeText(await (await readBlob(path)).text()))
  const save = () => act(async () => download(await readBlob(path), `${title.toLowerCase()}.json`))
  return (
    <section aria-label={title}>
      <div class="payload-head">
        <h2>{title}</h2>
        <span class="faint">{bytes(totalBytes)}, as stored</span>
        <button
          type="button"
          class="quiet"
          aria-label={`Copy: ${title}`}
          disabled={isBusy}
          onClick={copy}
        >
          Copy
        </button>
        <button
          type="button"
          class="quiet"
          aria-label={`Save as a file: ${title}`}
          disabled={isBusy}
          onClick={save}
        >
          Save as a file
        </button>
      </div>
      <FailureText text={failure} />
      <div ref={frame} class="json parts" tabIndex={0} role="region" aria-label={`${title}, text`}>
        {Array.from({ length: parts }, (_, part) => (
          <Part
            key={part}
            frame={frame}
            {...{ path, part }}
            known={part === 0 ? first : undefined}
          />
        ))}
      </div>
    </section>
  )
}

interface PartProps {
  frame: { current: HTMLDivElement | null }
  path: string
  part: number
  known: string | undefined
}

/** The parts of one text would displace all other answers. */
const UNKEPT = { isKept: false }

function Part({ frame, path, part, known }: PartProps) {
  const element = useRef<HTMLDivElement>(null)
  const [isSeen, setSeen] = useState(false)
  const isRead = known === undefined && isSeen
  const answer = useQuery(
    isRead ? `part ${part} ${path}` : undefined,
    (signal) => readPart(path, part, signal),
    UNKEPT,
  )
  useEffect(() => {
    if (isSeen || !element.current) return
    const watcher = new IntersectionObserver(
      (entries) => setSeen(entries.some((entry) => entry.isIntersecting)),
      { root: frame.current, rootMargin: '200px' },
    )
    watcher.observe(element.current)
    return () => watcher.disconnect()
  }, [isSeen])
  const text = known ?? answer.data?.text
  if (text !== undefined) return <pre>{text}</pre>
  return (
    <div ref={element} class="unread">
      from {bytes(part * PART_BYTES)} …{isSeen && <Loaded answer={answer}>{() => null}</Loaded>}
    </div>
  )
}

function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
