import { declaredPermissions } from '@windlass/domain/permissions'
import type { Visibility } from '@windlass/domain/visibility'
import type { Approval, Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault, notFound } from '@windlass/runtime/faults'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import { getApprovalByCallOrTask, getApprovalOfCall } from '../clients/approvals-client.ts'
import type { Clients } from '../clients/connect.ts'
import { visibleScopes } from '../domain/permissions.ts'
import { hasBody } from '../http/read-body.ts'
import { type Caller, hasPermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'
import { requireSeparateApprover, type SeparateApproverDeps } from './separate-approver.ts'
import { requireTaskPermission, type TaskPermissionDeps } from './task-permission.ts'

export interface Deps extends TaskPermissionDeps, SeparateApproverDeps {
  approvals: Clients['approvals']
}

export interface OfExecution {
  execution_id: string
}

/** Resolves to the approvals that the caller may read. */
export const mayListApprovals = rule({
  summary: 'workflow:<namespace>:<name>:read; approvals of other workflows are left out',
  for: 'people',
  isFiltered: true,
  requiredPermissions: ['workflow:{namespace}:{workflow_name}:read'],
  async authorize({ caller }: AccessRequest<unknown>): Promise<Visibility> {
    if (hasPermission(caller, 'workflow:*:*:read')) return { kind: 'all' }
    requireAnyRead(caller)
    return { kind: 'only', workflows: visibleScopes(caller.permissions, 'workflow'), ids: [] }
  },
})

export const mayReadApprovals = rule({
  summary: "workflow:<namespace>:<name>:read for the execution's workflow",
  for: 'people',
  requiredPermissions: ['workflow:{namespace}:{workflow_name}:read'],
  authorize: ({ params, caller }: AccessRequest<OfExecution>, deps: Deps): Promise<Execution> =>
    getReadableExecution(deps, caller, params),
})

export const mayDecideCall = rule({
  summary:
    'workflow:<namespace>:<name>:read and :task:<task_name>:approve, and what the workflow requires; not the starter where the task has a separate approver',
  for: 'people',
  requiredPermissions: [
    'workflow:{namespace}:{workflow_name}:read',
    'workflow:{namespace}:{workflow_name}:task:{task_name}:approve',
  ],
  async authorize(
    { params, caller }: AccessRequest<OfExecution & { task_call_id: string }>,
    deps: Deps,
  ): Promise<Approval> {
    const execution = await getReadableExecution(deps, caller, params)
    const approval = await getApprovalOfCall(deps, params)
    const { workflow_namespace: namespace, workflow_name: name } = execution
    requireWorkflowPermission(
      caller,
      `workflow:${namespace}:${name}:task:${approval.task_name}:approve`,
    )
    await requireDeclaredPermissions(deps, caller, execution)
    await requireSeparateApprover(deps, caller, { execution, task_name: approval.task_name })
    return approval
  },
})

export const mayDecideTask = rule({
  summary:
    'workflow:<namespace>:<name>:read and what the workflow requires; or the token of the execution, to ask whether its task may run',
  for: 'people',
  requiredPermissions: ['workflow:{namespace}:{workflow_name}:read'],
  acceptsExecutionTokens: 'own',
  async authorize(
    { ctx, params, caller, body }: AccessRequest<OfExecution & { task_name: string }>,
    deps: Deps,
  ): Promise<Approval | undefined> {
    if (caller.execution) return requireTaskPermission(deps, caller, params)
    const isChecked = caller.permissions.kind === 'only'
    if (isChecked && !hasBody(ctx)) throw executionTokenRequired()
    const execution = await getReadableExecution(deps, caller, params)
    await requireDeclaredPermissions(deps, caller, execution)
    // The body is optional and is read last, because the refusals above must cost nothing.
    if (isChecked && (await body()) === undefined) throw executionTokenRequired()
    const approval = await getApprovalByCallOrTask(deps, params)
    await requireSeparateApprover(deps, caller, { execution, task_name: approval.task_name })
    return approval
  },
})

const executionTokenRequired = () => new Fault('forbidden', 'An execution token is required')

const FORBIDDEN = { error: 'forbidden' }

function requireWorkflowPermission(caller: Caller, permission: string): void {
  if (hasPermission(caller, permission)) return
  throw new Fault('forbidden', `Permission denied: requires '${permission}'`, {
    details: { ...FORBIDDEN, missing_permission: permission },
  })
}

/**
 * Returns the execution if the caller may read its workflow, and `not_found` otherwise: a refusal
 * must not disclose the execution or its workflow.
 */
async function getReadableExecution(
  { executions }: Pick<Deps, 'executions'>,
  caller: Caller,
  { execution_id }: OfExecution,
): Promise<Execution> {
  requireAnyRead(caller)
  const execution = await executions.get(execution_id)
  const { workflow_namespace: namespace, workflow_name: name } = execution
  if (!hasPermission(caller, `workflow:${namespace}:${name}:read`))
    throw notFound('Execution', execution_id)
  return execution
}

/** Refuses a caller that may read no workflow at all, before any lookup. */
function requireAnyRead({ permissions }: Caller): void {
  if (visibleScopes(permissions, 'workflow').length === 0)
    throw new Fault('forbidden', 'forbidden', { details: FORBIDDEN })
}

/**
 * Requires what the running version declares. The declarations of a deleted version are unknown;
 * then the permission to run the workflow is required.
 */
async function requireDeclaredPermissions(
  { resolveWorkflow }: Pick<Deps, 'resolveWorkflow'>,
  caller: Caller,
  execution: Execution,
) {
  if (caller.permissions.kind === 'all') return
  const { workflow_namespace: namespace, workflow_name: name, workflow_version } = execution
  const workflow = await resolveWorkflow(namespace, name, workflow_version).catch(
    undefinedIfNotFound,
  )
  if (!workflow) return requireWorkflowPermission(caller, `workflow:${namespace}:${name}:run`)
  for (const permission of declaredPermissions(workflow))
    requireWorkflowPermission(caller, permission)
}
