import { listApprovalsOf } from '../api/approvals.ts'
import { useQuery } from '../api/use-query.ts'
import { lists } from '../live/feed.ts'
import { ApprovalList } from '../ui/approval-list.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'

const EVERY_MS = 5_000

/** The approvals of an execution, pending ones with their decision. */
export function ApprovalsTab({ id }: { id: string }) {
  const answer = useQuery(`approvals of ${id}`, (signal) => listApprovalsOf(id, signal), {
    every: EVERY_MS,
    live: lists.approvals,
  })
  return (
    <Loaded answer={answer}>
      {({ approvals }) =>
        approvals.length === 0 ? (
          <Empty title="No task of this execution needs an approval" />
        ) : (
          <ApprovalList approvals={approvals} onDecided={answer.refresh} />
        )
      }
    </Loaded>
  )
}
