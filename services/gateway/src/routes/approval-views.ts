import type { Visibility, WorkflowScope } from '@windlass/domain/visibility'
import type { Approval } from '@windlass/proto/windlass/executions/v1/executions'
import { z } from 'zod'
import { timeOf } from './responses.ts'

export const ApprovalView = z
  .object({
    approval_id: z.string(),
    execution_id: z.string(),
    task_call_id: z.string(),
    task_name: z.string(),
    workflow_namespace: z.string(),
    workflow_name: z.string(),
    status: z.string(),
    requested_at: z.string().nullable(),
    decided_at: z.string().nullable(),
    approver: z.object({ subject: z.string(), provider: z.string() }).nullable(),
    reason: z.string().nullable(),
    scope: z.string(),
  })
  .meta({ id: 'Approval' })

export function approvalView(approval: Approval): z.input<typeof ApprovalView> {
  const { approver_subject: subject, approver_provider: provider, ...row } = approval
  return {
    approval_id: row.approval_id,
    execution_id: row.execution_id,
    task_call_id: row.task_call_id,
    task_name: row.task_name,
    workflow_namespace: row.workflow_namespace,
    workflow_name: row.workflow_name,
    status: row.status,
    requested_at: timeOf(row.requested_at),
    decided_at: timeOf(row.decided_at),
    approver: subject === '' ? null : { subject, provider },
    reason: row.reason ?? null,
    scope: row.scope,
  }
}

/** An empty list means all workflows here, so that nothing visible must not become an empty list. */
export function withinOf(visible: Visibility): WorkflowScope[] {
  if (visible.kind === 'all') return []
  if (visible.workflows.length === 0) throw new Error('a list without visible workflows')
  return [...visible.workflows]
}
