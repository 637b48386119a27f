import { listApprovals } from '../api/approvals.ts'
import { COUNTS, SCHEDULES } from '../api/intervals.ts'
import type { Queue, QueueRow } from '../api/queue.ts'
import { listSchedules, type ScheduleRow } from '../api/schedules.ts'
import { useQuery } from '../api/use-query.ts'
import { count } from '../format/time.ts'
import { lists } from '../live/feed.ts'
import { address, scheduleAddress } from '../location/address.ts'
import { PendingApprovals } from '../ui/approval-list.tsx'
import { isForbidden, problemOf } from '../ui/feedback.tsx'
import { Icon } from '../ui/icon.tsx'
import { Link } from '../ui/link.tsx'
import { type Total, totalText, waitingOf } from './counts.ts'

const SHOWN_APPROVALS = 3
const SHOWN_SCHEDULES = 5

interface Props {
  paused: Total | undefined
  queue: Queue | undefined
}

/**
 * Approvals that wait, paused executions, those that no worker can run, and schedules that fail; nothing at
 * all if there is nothing to do.
 */
export function NeedsPerson({ paused, queue }: Props) {
  const waiting = useQuery(
    'approvals pending',
    (signal) => listApprovals({ status: 'pending', limit: '100' }, signal),
    { ...COUNTS, live: lists.approvals },
  )
  const schedules = useQuery('schedules', listSchedules, {
    ...SCHEDULES,
    live: lists.schedules,
  })
  const { approvals = [], total = approvals.length } = waiting.data ?? {}
  const failing = schedules.data?.filter((one) => one.failure_count > 0) ?? []
  const stuck = queue?.queues.filter(({ workers }) => workers.length === 0) ?? []
  const asked = new Set(approvals.map(({ execution_id }) => execution_id)).size
  // Which of them wait for an approval is not known before the approvals are, or cannot be read.
  const isKnown = waiting.data !== undefined || waiting.error !== undefined
  const hasOthers = isKnown && paused !== undefined && paused.total > asked
  const problems = [waiting, schedules].flatMap(({ data, error }) =>
    data === undefined && error && !isForbidden(error) ? [problemOf(error).title] : [],
  )
  const found = approvals.length + failing.length + stuck.length + problems.length
  if (found === 0 && !hasOthers) return null
  return (
    <section class="page-body" aria-label="Needs attention">
      <h2>Needs attention</h2>
      {approvals.length > 0 && (
        <PendingApprovals
          approvals={approvals}
          isCut={total > approvals.length}
          most={SHOWN_APPROVALS}
          onDecided={waiting.refresh}
        />
      )}
      {approvals.length > SHOWN_APPROVALS && (
        <p>
          <Link to="approvals">All {count(total)} approvals</Link>
        </p>
      )}
      <Others
        {...{ stuck, failing, problems }}
        paused={hasOthers ? paused : undefined}
        asked={asked}
      />
    </section>
  )
}

interface OthersProps {
  stuck: readonly QueueRow[]
  failing: readonly ScheduleRow[]
  /** Paused executions of which some do not wait for an approval; undefined: none. */
  paused: Total | undefined
  /** Number of executions with an approval. */
  asked: number
  /** Reasons why something could not be read. */
  problems: readonly string[]
}

/** What needs a person apart from approvals; what could not be read is not taken for nothing. */
function Others({ stuck, failing, paused, asked, problems }: OthersProps) {
  if (stuck.length + failing.length + problems.length === 0 && !paused) return null
  return (
    <div class="card needs">
      {stuck.length > 0 && <Stuck queues={stuck} />}
      {paused && <Paused paused={paused} hasApprovals={asked > 0} />}
      {failing.slice(0, SHOWN_SCHEDULES).map(({ id, name, failure_count }) => (
        <p key={id}>
          <Icon name="clock" />
          <span>
            <Link to={scheduleAddress(id)}>{name}</Link>: {count(failure_count)} of its runs failed
          </span>
        </p>
      ))}
      {failing.length > SHOWN_SCHEDULES && (
        <p>
          <Link to="schedules">All {count(failing.length)} schedules whose runs failed</Link>
        </p>
      )}
      {problems.slice(0, 1).map((problem) => (
        <p key={problem}>
          <Icon name="warning" /> <span>Not everything could be read: {problem}.</span>
        </p>
      ))}
    </div>
  )
}

const executions = ({ total }: Total) => (total === 1 ? 'execution' : 'executions')

/** Executions that wait although no connected worker can run them. */
function Stuck({ queues }: { queues: readonly QueueRow[] }) {
  const waiting = waitingOf(queues)
  return (
    <p>
      <Icon name="warning" />
      <span>
        <Link to="queue">
          {totalText(waiting)} queued {executions(waiting)}
        </Link>
        : no connected worker can run {waiting.total === 1 ? 'it' : 'them'}
      </span>
    </p>
  )
}

const Paused = ({ paused, hasApprovals }: { paused: Total; hasApprovals: boolean }) => (
  <p>
    <Icon name="pause" />
    <span>
      <Link to={address('executions', { state: 'PAUSED' })}>
        {totalText(paused)} paused {executions(paused)}
      </Link>
      : waiting for {hasApprovals ? 'a resume or one of the approvals' : 'a resume or an approval'}
    </span>
  </p>
)
