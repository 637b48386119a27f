import { membersOf, stringOf } from '@windlass/runtime/json/json'
import { payloadPath, readPart } from '../api/payload.ts'
import { useQuery } from '../api/use-query.ts'
import { executionAddress } from '../location/address.ts'
import { Link } from '../ui/link.tsx'

const MAX_MESSAGE_CHARS = 600
const MAX_TRACE_CHARS = 4_000

/** The error of a failed execution, where nobody has to look for it; the tab with the output has all of it. */
export function Cause({ id }: { id: string }) {
  const path = payloadPath(id, 'error')
  const { data } = useQuery(`cause ${path}`, (signal) => readPart(path, 0, signal))
  if (!data) return null
  const { text } = data
  const error = membersOf(text)
  const kind = stringOf(error?.get('type'))
  const message = stringOf(error?.get('message')) ?? stringOf(text) ?? text
  const trace = stringOf(error?.get('traceback'))
  return (
    <section class="cause" aria-label="Cause">
      <p>
        {kind && <strong>{kind}: </strong>}
        <bdi>{message.slice(0, MAX_MESSAGE_CHARS)}</bdi>
        {message.length > MAX_MESSAGE_CHARS && '…'}{' '}
        <Link to={executionAddress(id, { tab: 'data' })}>whole error</Link>
      </p>
      {trace && <pre>{trace.slice(-MAX_TRACE_CHARS).trimEnd()}</pre>}
    </section>
  )
}
