import { listApprovals } from '../api/approvals.ts'
import { useQuery } from '../api/use-query.ts'
import { lists } from '../live/feed.ts'
import { changed } from '../location/address.ts'
import type { ScreenProps } from '../shell/app.tsx'
import { ApprovalList, PendingApprovals } from '../ui/approval-list.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Page } from '../ui/page.tsx'
import { Tabs } from '../ui/tabs.tsx'

const EVERY_MS = 5_000
const LIMIT = 100
const STATUSES = ['pending', 'approved', 'rejected', 'cancelled'].map((name) => ({
  name,
  label: name.charAt(0).toUpperCase() + name.slice(1),
}))

/** Calls that wait for a person, and those that were decided. */
export function ApprovalsScreen({ place: { query } }: ScreenProps) {
  const status = query.get('status') ?? 'pending'
  const answer = useQuery(
    `approvals ${status}`,
    (signal) => listApprovals({ status, limit: String(LIMIT) }, signal),
    { every: EVERY_MS, live: lists.approvals },
  )
  return (
    <Page title="Approvals">
      <Tabs
        label="Status"
        tabs={STATUSES}
        current={status}
        to={(name) => changed('approvals', query, { status: name })}
      />
      <Loaded answer={answer}>
        {({ approvals, total = approvals.length }) =>
          approvals.length === 0 ? (
            <Nothing status={status} />
          ) : (
            <>
              {status === 'pending' ? (
                <PendingApprovals
                  approvals={approvals}
                  isCut={total > approvals.length}
                  onDecided={answer.refresh}
                />
              ) : (
                <ApprovalList approvals={approvals} onDecided={answer.refresh} />
              )}
              {total > approvals.length && (
                <p class="stale">
                  The newest {approvals.length} of {total}.
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

const Nothing = ({ status }: { status: string }) =>
  status === 'pending' ? (
    <Empty title="Nothing waits for a decision">
      <p>
        Calls of tasks with <code>requires_approval=True</code> wait here until someone decides.
      </p>
    </Empty>
  ) : (
    <Empty title={`No call was ${status}`} />
  )
