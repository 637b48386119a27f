import { StatusError } from '@windlass/api-client/errors'
import { type PayloadKind, payloadPath, readPart } from '../api/payload.ts'
import { useQuery } from '../api/use-query.ts'
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
  const answer = useQuery(
    `payload ${path}`,
    (signal) => readPart(path, 0, signal).catch(nothingYet),
    { every: kind === 'input' ? undefined : EVERY_MS, live: kind === 'input' ? undefined : live },
  )
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

/** A running execution has no output yet. */
function nothingYet(error: unknown) {
  if (error instanceof StatusError && error.status === 404) return { text: 'null', totalBytes: 4 }
  throw error
}
