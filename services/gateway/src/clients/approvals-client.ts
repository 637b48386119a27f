import type {
  Approval,
  ListApprovalsRequest,
  ListApprovalsResponse,
} from '@windlass/proto/windlass/executions/v1/executions'
import { notFound } from '@windlass/runtime/faults'
import type { Clients } from './connect.ts'

type ApprovalsDeps = Pick<Clients, 'approvals'>

const NO_FILTER: ListApprovalsRequest = {
  status: '',
  execution_id: '',
  workflow_namespace: '',
  workflow_name: '',
  task_name: '',
  task_call_id: '',
  requested_before: undefined,
  within: [],
  limit: 200,
  offset: 0,
}

/** Lists matching approvals, newest first; absent members do not filter. */
export const listApprovals = (
  { approvals }: ApprovalsDeps,
  filter: Partial<ListApprovalsRequest>,
): Promise<ListApprovalsResponse> => approvals.list({ ...NO_FILTER, ...filter })

interface Call {
  execution_id: string
  task_call_id: string
}

/** Returns the approval of one call, undefined if none was requested. */
export async function findApproval(
  deps: ApprovalsDeps,
  { execution_id, task_call_id }: Call,
): Promise<Approval | undefined> {
  const { approvals } = await listApprovals(deps, { execution_id, task_call_id, limit: 1 })
  return approvals[0]
}

/** Returns the approval of one call; throws `not_found` if none was requested. */
export async function getApprovalOfCall(deps: ApprovalsDeps, call: Call): Promise<Approval> {
  const approval = await findApproval(deps, call)
  if (!approval) throw notFound('Approval', call.task_call_id)
  return approval
}

/**
 * Returns the approval of a call id or of a task name: among several calls of the task, the one that has
 * waited longest, or the newest if none is pending. Throws `not_found` if there is none.
 */
export async function getApprovalByCallOrTask(
  deps: ApprovalsDeps,
  { execution_id, task_name }: { execution_id: string; task_name: string },
): Promise<Approval> {
  const [byCall, pending, last] = await Promise.all([
    findApproval(deps, { execution_id, task_call_id: task_name }),
    listApprovals(deps, { execution_id, task_name, status: 'pending' }),
    listApprovals(deps, { execution_id, task_name, limit: 1 }),
  ])
  const approval = byCall ?? pending.approvals.at(-1) ?? last.approvals[0]
  if (!approval) throw notFound('Approval', task_name)
  return approval
}
