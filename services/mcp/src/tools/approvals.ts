import { path, toCallId, toExecutionId } from '@windlass/api-client/path'
import { toJsonObject } from '@windlass/api-client/payload'
import { quote } from '@windlass/runtime/json/json'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { executionArg, pageOf, selectMembers, wrapAs } from './shared.ts'

const MAX_PAGE = 200
const DEFAULT_PAGE = 20

const callArgs = {
  ...executionArg,
  task_call_id: z.string().describe('`task_call_id` of the approval: the call that waits'),
}

interface CallArgs {
  execution_id: string
  task_call_id: string
}

const pathOf = ({ execution_id, task_call_id }: CallArgs) =>
  path`/executions/${toExecutionId(execution_id)}/approvals/${toCallId(task_call_id)}`

const approvalNotFound = ({ execution_id, task_call_id }: CallArgs) =>
  `Approval of call '${task_call_id}' of execution '${execution_id}' not found`

const filter = (description: string) => z.string().optional().describe(description)

export const listApprovals = defineTool({
  name: 'list_approvals',
  title: 'List approvals',
  description:
    'List the calls of tasks that wait for a decision, newest first. An execution with one is PAUSED until approve_call or reject_call decides it. The arguments of the call are not recorded: get_execution shows the input of the execution.',
  args: {
    status: z
      .enum(['pending', 'approved', 'rejected', 'cancelled', 'all'])
      .default('pending')
      .describe('Only approvals with this status'),
    execution_id: filter('Only of this execution'),
    workflow_namespace: filter('Only of this namespace'),
    workflow_name: filter('Only of workflows of this name'),
    task_name: filter('Only of tasks of this name'),
    age_min: filter('Only requested at least this long ago, such as PT30M or P1D'),
    limit: z.int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE).describe('Maximum number of items'),
    offset: z.int().min(0).default(0).describe('Number of items to skip'),
  },
  request: ({ limit, offset, execution_id, ...filters }) => ({
    method: 'GET',
    path: path`/approvals`,
    query: {
      ...filters,
      execution_id: execution_id && toExecutionId(execution_id).encoded,
      limit: String(limit),
      offset: String(offset),
    },
  }),
  ...selectMembers({ ...pageOf('approvals'), auth_filtered: z.boolean() }),
  doing: 'listing approvals',
  effect: 'reads',
})

export const getApproval = defineTool({
  name: 'get_approval',
  title: 'Get approval',
  description: 'Show the approval of a call of a task: its status, who decided it, and why.',
  args: callArgs,
  request: (args) => ({ method: 'GET', path: pathOf(args) }),
  ...wrapAs('approval'),
  errors: { 404: approvalNotFound },
  doing: 'retrieving approval',
  effect: 'reads',
})

const reasonArg = {
  reason: z.string().optional().describe('A comment for the task and the audit log'),
}

const DECISION = 'It is final, and is recorded as the decision of the principal of this client.'

export const approveCall = defineTool({
  name: 'approve_call',
  title: 'Approve call',
  description: `Approve a call of a task that waits for it: the task runs and the execution continues. ${DECISION} Approve only what the user has seen and agreed to.`,
  args: {
    ...callArgs,
    ...reasonArg,
    always: z
      .boolean()
      .default(false)
      .describe('Also approve all later calls of this task in this execution'),
  },
  request: ({ reason, always, ...call }) => ({
    method: 'POST',
    path: `${pathOf(call)}/approve`,
    body: toJsonObject({
      reason: reason === undefined ? undefined : quote(reason),
      always: always ? 'true' : undefined,
    }),
  }),
  ...wrapAs('approval'),
  errors: { 404: approvalNotFound },
  doing: 'approving call',
  effect: 'decides',
})

export const rejectCall = defineTool({
  name: 'reject_call',
  title: 'Reject call',
  description: `Reject a call of a task that waits for approval: the task does not run, and raises ApprovalRejected in the workflow. ${DECISION}`,
  args: { ...callArgs, ...reasonArg },
  request: ({ reason, ...call }) => ({
    method: 'POST',
    path: `${pathOf(call)}/reject`,
    body: toJsonObject({ reason: reason === undefined ? undefined : quote(reason) }),
  }),
  ...wrapAs('approval'),
  errors: { 404: approvalNotFound },
  doing: 'rejecting call',
  effect: 'decides',
})
