import { useState } from 'preact/hooks'
import type { LogEvent } from '../exact/execution.ts'
import { count, duration } from '../format/time.ts'
import { forkAddress } from '../location/address.ts'
import { Empty } from '../ui/feedback.tsx'
import { JsonView } from '../ui/json-view.tsx'
import { Link } from '../ui/link.tsx'
import { useNow } from '../ui/now.ts'
import { Clock } from '../ui/times.tsx'

const SHORT_CHARS = 160
const STEP = 500

/** The log: its newest entries last, a step of them at a time. */
export function LogTab({ id, events }: { id: string; events: readonly LogEvent[] }) {
  const now = useNow(60_000)
  const [shown, setShown] = useState(STEP)
  const [open, setOpen] = useState<string>()
  if (events.length === 0) return <Empty title="The log is empty" />
  return (
    <>
      <div class="table-frame">
        <table class="rows events">
          <thead>
            <tr>
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
            {events.slice(0, shown).map((event, i) => (
              <tr key={event.id}>
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
                    event={event}
                    isOpen={open === event.id}
                    onToggle={() => setOpen(open === event.id ? undefined : event.id)}
                  />
                </td>
                <td class="right">
                  <Link
                    to={forkAddress(id, event.id)}
                    class="quiet-link"
                    aria-label={`Fork after entry ${i + 1}`}
                  >
                    Fork
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {events.length > shown && (
        <p class="stale">
          The first {count(shown)} of {count(events.length)} entries.
          <button type="button" onClick={() => setShown(shown + STEP)}>
            Show more
          </button>
        </p>
      )}
    </>
  )
}

interface ValueProps {
  event: LogEvent
  isOpen: boolean
  onToggle: () => void
}

function Value({ event: { value }, isOpen, onToggle }: ValueProps) {
  if (value === 'null') return <span class="faint">–</span>
  if (isOpen)
    return (
      <>
        <button type="button" class="quiet" onClick={onToggle} aria-expanded>
          Close
        </button>
        <JsonView title="Value" text={value} />
      </>
    )
  const isShort = value.length <= SHORT_CHARS
  return (
    <>
      <code>{isShort ? value : `${value.slice(0, SHORT_CHARS)}…`}</code>{' '}
      {!isShort && (
        <button type="button" class="quiet" onClick={onToggle} aria-expanded={false}>
          Show all
        </button>
      )}
    </>
  )
}
