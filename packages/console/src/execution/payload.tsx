import { StatusError } from '@windlass/api-client/errors'
import { type PayloadKind, type PayloadPart, payloadPath, readPart } from '../api/payload.ts'
import { type Answer, useQuery } from '../api/use-query.ts'
import { PART_BYTES } from '../exact/decode-part.ts'
import type { LiveSource } from '../live/live-source.ts'
import { Loaded } from '../ui/feedback.tsx'
import { JsonView } from '../ui/json-view.tsx'
import { LargeText } from './large-text.tsx'

const EVERY_MS = 5_000

interface Props {
  id: string
  kind: PayloadKind
  title: string
  live: LiveSource
  /** What is said where there is none. */
  absent?: string
}

/** Shows a stored text exactly; of a large one only the parts in view are read. */
export function Payload({ id, kind, title, live, absent = 'It is not stored.' }: Props) {
  const path = payloadPath(id, kind)
  const answer = usePayload(id, kind, live)
  return (
    <Loaded answer={answer}>
      {({ part }) =>
        part === undefined ? (
          <section aria-label={title}>
            <div class="payload-head">
              <h2>{title}</h2>
            </div>
            <p class="faint">{absent}</p>
          </section>
        ) : part.totalBytes <= PART_BYTES ? (
          <JsonView title={title} text={part.text} />
        ) : (
          <LargeText
            key={path}
            {...{ title, path }}
            totalBytes={part.totalBytes}
            first={part.text}
          />
        )
      }
    </Loaded>
  )
}

/** Start of a stored text; undefined if there is none. The input of an execution does not change. Without an id, nothing is read. */
export function usePayload(
  id: string | undefined,
  kind: PayloadKind,
  live: LiveSource,
): Answer<{ part: PayloadPart | undefined }> {
  const path = payloadPath(id ?? '', kind)
  const isInput = kind === 'input'
  return useQuery(
    id && `payload ${path}`,
    async (signal) => ({ part: await readPart(path, 0, signal).catch(absentOne) }),
    isInput ? {} : { every: EVERY_MS, live },
  )
}

/** A running execution has no output yet, which is not the output `null`. */
function absentOne(error: unknown): undefined {
  if (error instanceof StatusError && error.status === 404) return undefined
  throw error
}
