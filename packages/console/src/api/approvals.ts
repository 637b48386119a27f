import { type Query, read, sendRepeatable } from './server.ts'

/** A row of the approvals routes. */
export interface ApprovalRow {
  approval_id: string
  execution_id: string
  task_call_id: string
  task_name: string
  workflow_namespace: string
  workflow_name: string
  status: string
  requested_at: string | null
  decided_at: string | null
  approver: { subject: string } | null
  reason: string | null
}

export interface ApprovalPage {
  approvals: ApprovalRow[]
  total?: number
}

export const listApprovalsOf = (id: string, signal?: AbortSignal) =>
  read<ApprovalPage>(`/executions/${id}/approvals`, {}, signal)

/** Approves or rejects a call, with a reason if one is given. */
export const decide = (
  { execution_id, task_call_id }: ApprovalRow,
  verdict: 'approve' | 'reject',
  reason: string,
): Promise<string> =>
  sendRepeatable({
    method: 'POST',
    path: `/executions/${execution_id}/approvals/${encodeURIComponent(task_call_id)}/${verdict}`,
    body: JSON.stringify(reason === '' ? {} : { reason }),
  })

export const listApprovals = (query: Query, signal?: AbortSignal) =>
  read<ApprovalPage>('/approvals', query, signal)
