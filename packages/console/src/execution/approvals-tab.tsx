import { executionAddress } from '../location/address.ts'
import { ApprovalList } from '../ui/approval-list.tsx'
import { Empty, Loaded } from '../ui/feedback.tsx'
import { Link } from '../ui/link.tsx'
import { useApprovalsOf } from './use-approvals.ts'

/** The approvals of an execution, pending ones with their decision. */
export function ApprovalsTab({ id, state }: { id: string; state: string }) {
  const answer = useApprovalsOf(id)
  return (
    <Loaded answer={answer}>
      {({ approvals }) =>
        approvals.length > 0 ? (
          <ApprovalList approvals={approvals} onDecided={answer.refresh} />
        ) : state === 'PAUSED' ? (
          <WaitsForResume id={id} />
        ) : (
          <Empty title="No task of this execution needs an approval" />
        )
      }
    </Loaded>
  )
}

/** A workflow paused by itself, with an output that says why. */
const WaitsForResume = ({ id }: { id: string }) => (
  <Empty title="It waits for a resume, not for an approval">
    <p>
      <em>Resume</em>, above, continues it, with an input if its workflow needs one. The output with
      which it paused is in <Link to={executionAddress(id, { tab: 'data' })}>Input and output</Link>
      , the entry in the <Link to={executionAddress(id, { tab: 'log' })}>Log</Link>.
    </p>
  </Empty>
)
