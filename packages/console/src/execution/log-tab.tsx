import { useState } from 'preact/hooks'
import { useRefusal } from '../api/permissions.ts'
import { useQuery } from '../api/use-query.ts'
import type { ExecutionHead, LogEvent } from '../exact/execution.ts'
import { count, duration } from '../format/time.ts'
import type { LiveSource } from '../live/live-source.ts'
import { forkAddress } from '../location/address.ts'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { JsonView } from '../ui/json-view.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Clock } from '../ui/times.tsx'
import { readValue, useLog } from './use-log.ts'

const SHORT_CHARS = 160

type Execution = Pick<ExecutionHead, 'id' | 'namespace' | 'workflow'>

/** The log: its newest entries last, a page of them at a time. */
export function LogTab({ execution, live }: { execution: Execution; live: LiveSource }) {
  const { id, namespace, workflow } = execution
  const log = useLog(id, live)
  const refusal = useRefusal(`workflow:${namespace}:${workflow}:run`)
  return (
    <Loaded answer={log}>
      {({ events, more, lastSeq }) => (
        <>
          {refusal && <p class="faint">Entries cannot be forked after: {refusal}</p>}
          <Entries {...{ id, events, refusal }} />
          {more && (
            <p class="stale">
              The first {count(events.length)} of {count(lastSeq)} entries.
              <button type="button" aria-label="Show more entries" onClick={log.readMore}>
                Show more
              </button>
            </p>
          )}
        </>
      )}
    </Loaded>
  )
}

interface EntriesProps {
  id: string
  events: readonly LogEvent[]
  /** Why the execution cannot be forked. */
  refusal: string | undefined
}

function Entries({ id, events, refusal }: EntriesProps) {
  const now = useNow(60_000)
  const [open, setOpen] = useState<string>()
  if (events.length === 0) return <Empty title="The log is empty" />
  return (
    <div class="table-frame">
      <table class="rows events" aria-label="Entries of the log">
        <thead>
          <tr>
            <th scope="col" class="right">
              Entry
            </th>
            <th scope="col">Time</th>
            <th scope="col">After</th>
            <th scope="col">Event</th>
            <th scope="col">Name</th>
            <th scope="col">Value</th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {events.map((event, i) => (
            <tr key={event.id}>
              <th scope="row" class="num right faint">
                {event.seq}
              </th>
              <td class="num">
                <Clock at={event.time} now={now} />
              </td>
              <td class="num faint">
                {i === 0 ? '' : `+${duration(event.time - (events[i - 1]?.time ?? event.time))}`}
              </td>
              <td class="event-type">{event.type}</td>
              <td>
                <bdi>{event.name}</bdi>
              </td>
              <td class="value">
                <Value
                  id={id}
                  event={event}
                  isOpen={open === event.id}
                  onToggle={() => setOpen(open === event.id ? undefined : event.id)}
                />
              </td>
              <td class="right">
                <ForkLink {...{ id, event, refusal }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface ForkProps {
  id: string
  event: LogEvent
  refusal: string | undefined
}

function ForkLink({ id, event, refusal }: ForkProps) {
  const label = `Fork after entry ${event.seq}`
  if (refusal)
    return (
      <button type="button" class="quiet" disabled title={refusal} aria-label={label}>
        Fork
      </button>
    )
  return (
    <Link to={forkAddress(id, event.id)} class="quiet-link" aria-label={label}>
      Fork
    </Link>
  )
}

interface ValueProps {
  id: string
  event: LogEvent
  isOpen: boolean
  onToggle: () => void
}

function Value({ id, event, isOpen, onToggle }: ValueProps) {
  const { value, seq, isValueCut } = event
  if (value === 'null') return <span class="faint">–</span>
  if (isOpen)
    return (
      <>
        <button
          type="button"
          class="quiet"
          aria-label={`Close the value of entry ${seq}`}
          onClick={onToggle}
          aria-expanded
        >
          Close
        </button>
        <WholeValue id={id} seq={seq} />
      </>
    )
  const isShort = !isValueCut && value.length <= SHORT_CHARS
  return (
    <>
      <code>{isShort ? value : `${value.slice(0, SHORT_CHARS)}…`}</code>{' '}
      {!isShort && (
        <button
          type="button"
          class="quiet"
          aria-label={`Show all of the value of entry ${seq}`}
          onClick={onToggle}
          aria-expanded={false}
        >
          Show all
        </button>
      )}
    </>
  )
}

function WholeValue({ id, seq }: { id: string; seq: number }) {
  const answer = useQuery(`value ${id} ${seq}`, (signal) => readValue(id, seq, signal))
  return (
    <Loaded answer={answer}>
      {(text) => <JsonView title={`Value of entry ${seq}`} text={text} />}
    </Loaded>
  )
}
