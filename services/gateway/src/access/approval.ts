import { declaredPermissions } from '@windlass/domain/permissions'
import type { Approval, Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault, notFound } from '@windlass/runtime/faults'
import { approvalOf, askedFor } from '../clients/approvals.ts'
import type { Services } from '../clients/connect.ts'
import { readableScopes } from '../domain/permissions.ts'
import { type Caller, may } from './caller.ts'
import { type Asked, rule } from './rule.ts'
import { demandTask } from './task-permission.ts'
import { ifNotFound } from './workflow.ts'

export interface OfExecution {
  execution_id: string
}

/** The workflows whose approvals the caller may see; none: all of them. */
export const mayListApprovals = rule({
  summary: 'workflow:<namespace>:<name>:read; approvals of other workflows are left out',
  for: 'people',
  asks: ['workflow:{namespace}:{workflow_name}:read'],
  async admit({ caller }: Asked<unknown>) {
    if (!caller.permissions || may(caller, 'workflow:*:*:read')) return []
    demandSomeSight(caller)
    return readableScopes(caller.permissions)
  },
})

export const mayReadApprovals = rule({
  summary: "workflow:<namespace>:<name>:read for the execution's workflow",
  for: 'people',
  asks: ['workflow:{namespace}:{workflow_name}:read'],
  admit: ({ params, caller, services }: Asked<OfExecution>): Promise<Execution> =>
    readable(services, caller, params),
})

export const mayDecideCall = rule({
  summary:
    'workflow:<namespace>:<name>:read and :task:<task_name>:approve, and what the workflow requires',
  for: 'people',
  asks: [
    'workflow:{namespace}:{workflow_name}:read',
    'workflow:{namespace}:{workflow_name}:task:{task_name}:approve',
  ],
  async admit(asked: Asked<OfExecution & { task_call_id: string }>): Promise<Approval> {
    const { params, caller, services } = asked
    const execution = await readable(services, caller, params)
    const approval = await approvalOf(services, params)
    const { workflow_namespace: namespace, workflow_name: name } = execution
    need(caller, `workflow:${namespace}:${name}:task:${approval.task_name}:approve`)
    await needRequired(services, caller, execution)
    return approval
  },
})

export const mayDecideTask = rule({
  summary:
    'workflow:<namespace>:<name>:read and what the workflow requires; or the token of the execution, which asks whether its task may run',
  for: 'people',
  asks: ['workflow:{namespace}:{workflow_name}:read'],
  takesExecutions: 'own',
  async admit(asked: Asked<OfExecution & { task_name: string }>): Promise<Approval | undefined> {
    const { params, caller, services, body } = asked
    if (caller.execution) return demandTask(services, caller, params)
    if (caller.permissions && (await body()) === undefined)
      throw new Fault('forbidden', 'An execution token is required')
    const execution = await readable(services, caller, params)
    await needRequired(services, caller, execution)
    return askedFor(services, params)
  },
})

const FORBIDDEN = { error: 'forbidden' }

function need(caller: Caller, permission: string): void {
  if (may(caller, permission)) return
  throw new Fault('forbidden', `Permission denied: requires '${permission}'`, {
    details: { ...FORBIDDEN, missing_permission: permission },
  })
}

/** The execution, for whoever may read its workflow; to others it is as good as none, so that nobody learns of it or of its workflow. */
async function readable(
  services: Services,
  caller: Caller,
  { execution_id }: OfExecution,
): Promise<Execution> {
  demandSomeSight(caller)
  const execution = await services.executions.get(execution_id)
  const { workflow_namespace: namespace, workflow_name: name } = execution
  if (!may(caller, `workflow:${namespace}:${name}:read`)) throw notFound('Execution', execution_id)
  return execution
}

/** Refuses whoever may read no workflow at all, before anything is looked up. */
function demandSomeSight({ permissions }: Caller): void {
  if (permissions && readableScopes(permissions).length === 0)
    throw new Fault('forbidden', 'forbidden', { details: FORBIDDEN })
}

/** What the version that runs requires; of one that was deleted nobody can say, so the right to run it is asked for. */
async function needRequired(services: Services, caller: Caller, execution: Execution) {
  if (!caller.permissions) return
  const { workflow_namespace: namespace, workflow_name: name, workflow_version } = execution
  const workflow = await services.resolve(namespace, name, workflow_version).catch(ifNotFound)
  if (!workflow) return need(caller, `workflow:${namespace}:${name}:run`)
  for (const permission of declaredPermissions(workflow)) need(caller, permission)
}
