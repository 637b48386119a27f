import { objects } from '@windlass/domain/audit'
import type { Approval } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault, unprocessable } from '@windlass/runtime/faults'
import { z } from 'zod'
import { type Caller, onBehalfOf } from '../access/caller.ts'
import { getApprovalOfCall, listApprovals as list } from '../clients/approvals-client.ts'
import type { Clients } from '../clients/connect.ts'
import { ageOf } from '../domain/age.ts'
import type { RequestContext } from '../http/request-context.ts'
import { sendJson } from '../http/response.ts'
import { optionalJson } from '../route/body.ts'
import { id, integer, nameFilter, prose, text } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { ApprovalView, approvalView, withinOf } from './approval-views.ts'

type Deps = Pick<Clients, 'approvals'>

const ApprovalPage = z.object({
  approvals: z.array(ApprovalView),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})

const Decided = ApprovalView.extend({ execution_state: z.string() }).meta({ id: 'ApprovalDecided' })

const page = {
  limit: integer({ min: 1, max: 200 }).default(20),
  offset: integer({ min: 0 }).default(0),
}

const age = z
  .string()
  .refine((given) => given === '' || ageOf(given) !== undefined, 'must be a duration, e.g. P1DT12H')
  .transform(ageOf)
  .optional()

const STATUSES = ['', 'pending', 'approved', 'rejected', 'cancelled', 'all'] as const
const name = text(255).default('')

export const listApprovals = route('get', '/approvals', {
  summary: 'List approvals, newest first; pending ones unless another status is given',
  isExpensive: true,
  access: 'may list approvals',
  query: {
    status: z.enum(STATUSES).default('pending'),
    execution_id: id.optional(),
    workflow_namespace: name,
    workflow_name: nameFilter,
    task_name: name,
    age_min: age,
    ...page,
  },
  returns: ApprovalPage.extend({ auth_filtered: z.boolean() }).meta({ id: 'ApprovalList' }),
  async handle({ query: { status, age_min, ...query }, resolved: visible }, deps: Deps) {
    const { limit, offset } = query
    const { approvals, total } = await list(deps, {
      ...query,
      within: withinOf(visible),
      status: status === 'all' ? '' : status || 'pending',
      requested_before: age_min === undefined ? undefined : new Date(Date.now() - age_min),
    })
    const auth_filtered = visible.kind === 'only'
    return { approvals: approvals.map(approvalView), total, limit, offset, auth_filtered }
  },
})

const AlreadyDecided = z
  .object({
    error: z.literal('already_decided'),
    current_status: z.string(),
    decided_at: z.string().nullish(),
  })
  .meta({ id: 'AlreadyDecided' })
const ApprovalNotFound = z
  .object({ detail: z.object({ error: z.literal('not_found') }) })
  .meta({ id: 'ApprovalNotFound' })
const refusals = { 404: ApprovalNotFound, 409: AlreadyDecided }

/**
 * Refusals of decisions have a format of their own: to clients its 409 means that another decision came
 * first.
 */
function refuse(error: unknown, ctx: RequestContext): boolean {
  if (!(error instanceof Fault)) return false
  if (error.details?.error === 'already_decided') sendJson(ctx, 409, JSON.stringify(error.details))
  else if (error.kind === 'not_found') sendJson(ctx, 404, '{"detail":{"error":"not_found"}}')
  else return false
  return true
}

export const listExecutionApprovals = route('get', '/executions/{execution_id}/approvals', {
  summary: 'List the approvals of an execution, newest first',
  access: 'may read approvals',
  query: page,
  returns: ApprovalPage.meta({ id: 'ExecutionApprovals' }),
  refuse,
  refusals,
  async handle({ params, query }, deps: Deps) {
    const { approvals, total } = await list(deps, { ...params, ...query })
    return { approvals: approvals.map(approvalView), total, ...query }
  },
})

export const getApproval = route('get', '/executions/{execution_id}/approvals/{task_call_id}', {
  summary: 'Show the approval of a call',
  access: 'may read approvals',
  returns: ApprovalView,
  refuse,
  refusals,
  handle: async ({ params }, deps: Deps) => approvalView(await getApprovalOfCall(deps, params)),
})

const remarks = { reason: prose(10_000).nullish(), always: z.boolean().nullish() }
const Remarks = z.object(remarks).meta({ id: 'ApprovalRemarks' })
const Authorized = z.object({ authorized: z.literal(true) }).meta({ id: 'TaskAuthorized' })
const Decision = z.object({ approved: z.boolean(), ...remarks }).meta({ id: 'ApprovalDecision' })

const approvalObject = ({ params }: { params: { execution_id: string; task_call_id: string } }) =>
  objects.approval(params.execution_id, params.task_call_id)

export const approve = route(
  'post',
  '/executions/{execution_id}/approvals/{task_call_id}/approve',
  {
    summary: 'Approve a call; with always, later calls of the task in this execution too',
    access: 'may decide call',
    body: optionalJson(Remarks),
    returns: Decided,
    refuse,
    refusals,
    audit: { action: 'approval.approve', object: approvalObject, recorded: 'around' },
    handle: ({ body, resolved, caller, ctx }, deps: Deps) =>
      decide(deps, resolved, { ...body, approved: true, caller, ctx }),
  },
)

export const reject = route('post', '/executions/{execution_id}/approvals/{task_call_id}/reject', {
  summary: 'Reject a call',
  access: 'may decide call',
  body: optionalJson(Remarks),
  returns: Decided,
  refuse,
  refusals,
  audit: { action: 'approval.reject', object: approvalObject, recorded: 'around' },
  handle: ({ body, resolved, caller, ctx }, deps: Deps) =>
    decide(deps, resolved, { ...body, approved: false, caller, ctx }),
})

export const authorizeTask = route('post', '/executions/{execution_id}/authorize/{task_name}', {
  summary:
    'Decide the pending approval of a task, by its name or the id of its call; with the token of the execution and no body: ask whether the task may run',
  access: 'may decide task',
  body: optionalJson(Decision),
  returns: z.union([Decided, Authorized]),
  refuse,
  refusals,
  audit: {
    action: ({ body }) => (body?.approved === false ? 'approval.reject' : 'approval.approve'),
    // A worker that asks if a task may run decides nothing.
    object: ({ params, resolved, caller }) =>
      caller.execution
        ? []
        : objects.approval(params.execution_id, resolved?.task_call_id ?? params.task_name),
    recorded: 'around',
  },
  async handle({ body, resolved, caller, ctx }, deps: Deps) {
    if (caller.execution) return { authorized: true as const }
    if (!body || !resolved) throw unprocessable(NO_DECISION)
    return decide(deps, resolved, { ...body, caller, ctx })
  },
})

const NO_DECISION = { loc: ['body'], msg: 'Field required', type: 'missing' }

interface DecisionRequest extends z.output<typeof Decision> {
  caller: Caller
  ctx: RequestContext
}

async function decide(
  { approvals }: Deps,
  { execution_id, task_call_id }: Approval,
  { approved, always, reason, caller, ctx }: DecisionRequest,
): Promise<z.input<typeof Decided>> {
  const { approval, execution } = await approvals.decide(
    {
      execution_id,
      task_call_id,
      task_name: '',
      approved,
      always: always ?? false,
      reason: reason ?? undefined,
    },
    onBehalfOf(ctx, caller),
  )
  if (!approval || !execution) throw new Error('a decision was not answered')
  return { ...approvalView(approval), execution_state: execution.state }
}
