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
}

/** Shows a stored text exactly; of a large one only the parts in view are read. */
export function Payload({ id, kind, title, live }: Props) {
  const path = payloadPath(id, kind)
  const answer = usePayload(id, kind, live)
  return (
    <Loaded answer={answer}>
      {({ text, totalBytes }) =>
        totalBytes <= PART_BYTES ? (
          <JsonView title={title} text={text} />
        ) : (
          <LargeText key={path} {...{ title, path, totalBytes }} first={text} />
        )
      }
    </Loaded>
  )
}

/** Start of a stored text. The input of an execution does not change. Without an id, nothing is read. */
export function usePayload(
  id: string | undefined,
  kind: PayloadKind,
  live: LiveSource,
): Answer<PayloadPart> {
  const path = payloadPath(id ?? '', kind)
  const isInput = kind === 'input'
  return useQuery(
    id && `payload ${path}`,
    (signal) => readPart(path, 0, signal).catch(nothingYet),
    isInput ? {} : { every: EVERY_MS, live },
  )
}

/** A running execution has no output yet. */
function nothingYet(error: unknown) {
  if (error instanceof StatusError && error.status === 404) return { text: 'null', totalBytes: 4 }
  throw error
}
