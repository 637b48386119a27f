import type { ComponentChildren } from 'preact'
import { COUNTS } from '../api/intervals.ts'
import type { Queue } from '../api/queue.ts'
import { serverNow } from '../api/server-clock.ts'
import { useQuery } from '../api/use-query.ts'
import { listWorkers } from '../api/workers.ts'
import type { Tone } from '../format/states.ts'
import { count } from '../format/time.ts'
import { lists } from '../live/feed.ts'
import { address } from '../location/address.ts'
import { Link } from '../ui/link.tsx'
import { Since } from '../ui/running-times.tsx'
import { failedLately, type Total, totalText, waitingOf } from './counts.ts'
import { useFailedLately, useTotal } from './use-counts.ts'

const MINUTE_MS = 60_000

interface Props {
  paused: Total | undefined
  queue: Queue | undefined
}

/** What runs, waits, pauses and failed, and who works, in numbers. */
export function Tiles({ paused, queue }: Props) {
  const running = useTotal('RUNNING')
  const failed = useFailedLately()
  const waiting = queue && waitingOf(queue.queues)
  // The address changes once a minute, not with each drawing.
  const minute = Math.floor(serverNow() / MINUTE_MS) * MINUTE_MS
  return (
    <ul class="tiles">
      <Tile label="Running" to={ofState('RUNNING')} total={running.data} tone="run" />
      <Tile label="Waiting for a worker" to="queue" total={waiting} tone="wait">
        {waiting?.oldest !== undefined && (
          <>
            oldest <Since at={waiting.oldest} />
          </>
        )}
      </Tile>
      <Tile label="Paused" to={ofState('PAUSED')} total={paused} tone="pause" />
      <Tile
        label="Failed in the last hour"
        to={address('executions', failedLately(minute))}
        total={failed.data}
        tone="bad"
      />
      <Workers />
    </ul>
  )
}

const ofState = (state: string) => address('executions', { state })

interface TileProps {
  label: string
  to: string
  total: Total | undefined
  /** Tone of a number above zero. */
  tone: Tone
  children?: ComponentChildren
}

const Tile = ({ label, to, total, tone, children }: TileProps) => (
  <li>
    <Link to={to} class={`tile tone-${total?.total ? tone : 'off'}`}>
      <span>{label}</span>
      <strong>{total === undefined ? '–' : totalText(total)}</strong>
      {children && <span class="tile-note">{children}</span>}
    </Link>
  </li>
)

function Workers() {
  const { data } = useQuery('workers', listWorkers, { ...COUNTS, live: lists.workers })
  const online = data?.filter(({ status }) => status === 'online').length
  const others = data && online !== undefined ? data.length - online : 0
  return (
    <li>
      <Link to="workers" class={`tile tone-${online === 0 ? 'bad' : 'off'}`}>
        <span>Workers online</span>
        <strong>{online === undefined ? '–' : count(online)}</strong>
        {others > 0 && <span class="tile-note">{count(others)} not online</span>}
      </Link>
    </li>
  )
}
