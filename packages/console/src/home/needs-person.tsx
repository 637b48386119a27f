import { listApprovals } from '../api/approvals.ts'
import type { Queue, QueueRow } from '../api/queue.ts'
import { listSchedules } from '../api/schedules.ts'
import { useQuery } from '../api/use-query.ts'
import { count } from '../format/time.ts'
import { lists } from '../live/feed.ts'
import { address, scheduleAddress } from '../location/address.ts'
import { ApprovalList } from '../ui/approval-list.tsx'
import { Link } from '../ui/link.tsx'
import { type Total, totalText, waitingOf } from './counts.ts'

const EVERY_MS = 3_000
const SLOW_MS = 10_000
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
    { every: EVERY_MS, live: lists.approvals },
  )
  const schedules = useQuery('schedules', listSchedules, {
    every: SLOW_MS,
    live: lists.schedules,
  })
  const approvals = waiting.data?.approvals ?? []
  const failing = schedules.data?.filter((one) => one.failure_count > 0) ?? []
  const stuck = queue?.queues.filter(({ workers }) => workers.length === 0) ?? []
  const asked = new Set(approvals.map(({ execution_id }) => execution_id)).size
  // Which of them wait for an approval is not known before the approvals are, or cannot be read.
  const isKnown = waiting.data !== undefined || waiting.error !== undefined
  const hasOthers = isKnown && paused !== undefined && paused.total > asked
  if (approvals.length + failing.length + stuck.length === 0 && !hasOthers) return null
  return (
    <section class="page-body" aria-label="What needs a person">
      <h2>What needs a person</h2>
      {approvals.length > 0 && (
        <ApprovalList approvals={approvals.slice(0, SHOWN_APPROVALS)} onDecided={waiting.refresh} />
      )}
      {approvals.length > SHOWN_APPROVALS && (
        <p>
          <Link to="approvals">All {approvals.length} approvals</Link>
        </p>
      )}
      {stuck.length > 0 && <Stuck queues={stuck} />}
      {hasOthers && <Paused paused={paused} hasApprovals={asked > 0} />}
      {failing.slice(0, SHOWN_SCHEDULES).map(({ id, name, failure_count }) => (
        <p key={id}>
          <Link to={scheduleAddress(id)}>{name}</Link>: {count(failure_count)} of its runs failed
        </p>
      ))}
      {failing.length > SHOWN_SCHEDULES && (
        <p>
          <Link to="schedules">All {count(failing.length)} schedules whose runs failed</Link>
        </p>
      )}
    </section>
  )
}

const executions = ({ total }: Total) => (total === 1 ? 'execution' : 'executions')

/** Executions that wait although no connected worker can run them. */
function Stuck({ queues }: { queues: readonly QueueRow[] }) {
  const waiting = waitingOf(queues)
  return (
    <p>
      <Link to="queue">
        {totalText(waiting)} queued {executions(waiting)}
      </Link>
      : no connected worker can run {waiting.total === 1 ? 'it' : 'them'}
    </p>
  )
}

const Paused = ({ paused, hasApprovals }: { paused: Total; hasApprovals: boolean }) => (
  <p>
    <Link to={address('executions', { state: 'PAUSED' })}>
      {totalText(paused)} paused {executions(paused)}
    </Link>
    : waiting for {hasApprovals ? 'a resume or one of the approvals' : 'a resume or an approval'}
  </p>
)
