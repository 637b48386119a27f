import { useState } from 'preact/hooks'
import { type ApprovalRow, decide } from '../api/approvals.ts'
import { millis } from '../format/time.ts'
import { executionAddress } from '../location/address.ts'
import { FailureText } from './failure-text.tsx'
import { Icon } from './icon.tsx'
import { Link } from './link.tsx'
import { useNow } from './now.ts'
import { Ago } from './times.tsx'
import { useAct } from './use-act.ts'

interface Props {
  approvals: readonly ApprovalRow[]
  onDecided: () => void
}

/** Approvals, each with what it is about; a pending one with its decision. */
export function ApprovalList({ approvals, onDecided }: Props) {
  return (
    <ul class="approvals">
      {approvals.map((approval) => (
        <Approval key={approval.approval_id} approval={approval} onDecided={onDecided} />
      ))}
    </ul>
  )
}

function Approval({ approval, onDecided }: { approval: ApprovalRow; onDecided: () => void }) {
  const now = useNow()
  const { task_name, workflow_namespace, workflow_name, execution_id, status } = approval
  return (
    <li class="card approval">
      <div>
        <strong>
          <bdi>{task_name}</bdi>
        </strong>
        <p class="faint">
          {workflow_namespace}/{workflow_name} ·{' '}
          <Link to={executionAddress(execution_id)} class="mono">
            {execution_id.slice(0, 8)}…
          </Link>{' '}
          · asked <Ago at={millis(approval.requested_at)} now={now} />
        </p>
        {status !== 'pending' && (
          <p>
            <strong>{status}</strong>
            {approval.approver && ` by ${approval.approver.subject}`}{' '}
            <Ago at={millis(approval.decided_at)} now={now} />
            {approval.reason && <q>{approval.reason}</q>}
          </p>
        )}
      </div>
      {status === 'pending' && <Decision approval={approval} onDecided={onDecided} />}
    </li>
  )
}

function Decision({ approval, onDecided }: { approval: ApprovalRow; onDecided: () => void }) {
  const [reason, setReason] = useState('')
  const { isBusy, failure, act } = useAct()
  const say = (verdict: 'approve' | 'reject') =>
    act(() => decide(approval, verdict, reason)).finally(onDecided)
  return (
    <div class="decision">
      <label>
        <span class="visually-hidden">Reason of the decision about {approval.task_name}</span>
        <input
          placeholder="Reason (optional)"
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      <button type="button" class="primary" disabled={isBusy} onClick={() => say('approve')}>
        <Icon name="check" /> Approve
      </button>
      <button type="button" class="danger" disabled={isBusy} onClick={() => say('reject')}>
        <Icon name="close" /> Reject
      </button>
      <FailureText text={failure} />
    </div>
  )
}
