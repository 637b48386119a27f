import { useEffect, useRef, useState } from 'preact/hooks'
import { readPart } from '../api/payload.ts'
import { readBlob } from '../api/server.ts'
import { PART_BYTES } from '../exact/decode-part.ts'
import { bytes } from '../format/time.ts'
import { FailureText } from '../ui/failure-text.tsx'
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

function Part({ frame, path, part, known }: PartProps) {
  const element = useRef<HTMLPreElement>(null)
  const [text, setText] = useState(known)
  useEffect(() => {
    if (text !== undefined || !element.current) return
    const left = new AbortController()
    const load = () =>
      readPart(path, part, left.signal).then(
        (read) => setText(read.text),
        () => {
          // Read again when it comes into view the next time.
        },
      )
    const watcher = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) void load()
      },
      { root: frame.current, rootMargin: '200px' },
    )
    watcher.observe(element.current)
    return () => {
      watcher.disconnect()
      left.abort()
    }
  }, [text, path, part])
  return (
    <pre ref={element} class={text === undefined ? 'unread' : undefined}>
      {text ?? `from ${bytes(part * PART_BYTES)} …`}
    </pre>
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
