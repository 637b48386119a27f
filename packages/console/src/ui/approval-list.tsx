import { useCallback, useMemo, useState } from 'preact/hooks'
import { type ApprovalRow, decide } from '../api/approvals.ts'
import { useRefusal } from '../api/permissions.ts'
import { millis } from '../format/time.ts'
import { ExecutionLink, shortId } from './execution-link.tsx'
import { FailureText } from './failure-text.tsx'
import { useHeldRows } from './held-rows.ts'
import { Icon } from './icon.tsx'
import { NewRows } from './new-rows.tsx'
import { useNow } from './now.ts'
import { Refusal } from './refusal.tsx'
import { Ago } from './times.tsx'
import { useAct } from './use-act.ts'

interface Props {
  approvals: readonly ApprovalRow[]
  onDecided: () => void
}

interface PendingProps extends Props {
  /** True: older ones wait, which the answer does not have. */
  isCut: boolean
  /** The greatest number that is shown at first. */
  most?: number
}

const isBefore = (row: ApprovalRow, other: ApprovalRow | undefined): boolean =>
  (row.requested_at ?? '') <= (other?.requested_at ?? '')

/** Status of an approval that the server no longer lists among those that wait. */
const GONE = 'gone'
const idOf = ({ approval_id }: ApprovalRow) => approval_id

/**
 * Approvals that wait, the newest first. One that arrives or is decided moves no other, since a press of
 * *Approve* would decide about the wrong call.
 */
export function PendingApprovals({ approvals, isCut, most, ...props }: PendingProps) {
  const latest = useMemo(() => approvals.slice(0, most), [approvals, most])
  const update = useCallback(
    (row: ApprovalRow) => {
      const now = approvals.find((one) => idOf(one) === idOf(row))
      if (now) return now
      const mayWait = isCut && isBefore(row, approvals.at(-1))
      return mayWait ? row : { ...row, status: GONE }
    },
    [approvals, isCut],
  )
  const { rows, waiting, show } = useHeldRows(latest, { holds: true, idOf, update })
  return (
    <div class="held-rows">
      <NewRows onShow={show}>{waiting > 0 && `${waiting} more`}</NewRows>
      <ApprovalList approvals={rows} {...props} />
    </div>
  )
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
  const [own, setOwn] = useState<Verdict>()
  const isPending = approval.status === 'pending'
  const isGone = approval.status === GONE || (isPending && own !== undefined)
  const { task_name, workflow_namespace, workflow_name, execution_id, status } = approval
  return (
    <li class="card approval">
      <div>
        <strong>
          <bdi>{task_name}</bdi>
        </strong>
        <p class="faint">
          {workflow_namespace}/{workflow_name} · <ExecutionLink id={execution_id} /> ·{' '}
          <span role="status">
            {isGone && <strong>{own ? OWN[own] : 'waits for no decision now'}</strong>}
          </span>
          {!isGone && (
            <>
              asked <Ago at={millis(approval.requested_at)} now={now} />
            </>
          )}
        </p>
        {!isPending && !isGone && (
          <p>
            <strong>{status}</strong>
            {approval.approver && ` by ${approval.approver.subject}`}{' '}
            <Ago at={millis(approval.decided_at)} now={now} />
            {approval.reason && <q>{approval.reason}</q>}
          </p>
        )}
      </div>
      {(isPending || isGone) && <Decision {...{ approval, isGone, onDecided }} onSent={setOwn} />}
    </li>
  )
}

type Verdict = 'approve' | 'reject'

const OWN: Record<Verdict, string> = { approve: 'approved by you', reject: 'rejected by you' }

interface DecisionProps {
  approval: ApprovalRow
  /** True if nothing is left to decide; the buttons keep their place. */
  isGone: boolean
  /** Called when the server has accepted a decision. */
  onSent: (verdict: Verdict) => void
  onDecided: () => void
}

function Decision({ approval, isGone, onSent, onDecided }: DecisionProps) {
  const [reason, setReason] = useState('')
  const { isBusy, failure, act } = useAct()
  const { workflow_namespace, workflow_name, task_name, execution_id } = approval
  const object = `${task_name} of ${workflow_name} ${shortId(execution_id)}`
  const refusal = useRefusal(
    `workflow:${workflow_namespace}:${workflow_name}:task:${task_name}:approve`,
  )
  const say = (verdict: Verdict) =>
    act(async () => {
      await decide(approval, verdict, reason)
      onSent(verdict)
    }).finally(onDecided)
  return (
    <div class="decision">
      <label>
        <span class="visually-hidden">Reason of the decision about {object}</span>
        <input
          placeholder="Reason (optional)"
          value={reason}
          disabled={isGone || refusal !== undefined}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      <button
        type="button"
        class="primary"
        aria-label={`Approve ${object}`}
        disabled={isBusy || isGone || refusal !== undefined}
        title={refusal}
        onClick={() => say('approve')}
      >
        <Icon name="check" /> Approve
      </button>
      <button
        type="button"
        class="danger"
        aria-label={`Reject ${object}`}
        disabled={isBusy || isGone || refusal !== undefined}
        title={refusal}
        onClick={() => say('reject')}
      >
        <Icon name="close" /> Reject
      </button>
      <Refusal text={refusal} />
      <FailureText text={failure} />
    </div>
  )
}
