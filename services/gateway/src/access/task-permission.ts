import { metadataOf } from '@windlass/domain/permissions'
import { Fault } from '@windlass/runtime/faults'
import type { Caches } from '../cache/create-caches.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import { type Caller, hasPermission } from './caller.ts'

export interface TaskPermissionDeps {
  executions: ExecutionsClient
  resolveWorkflow: Caches['resolveWorkflow']
}

/**
 * Tasks of the SDK that need no permission: their own calls are authorized, or they have no effect outside
 * of the workflow.
 */
const BUILT_IN = new Set([
  ...['now', 'uuid4', 'choice', 'randint', 'randrange', 'sleep', 'pause'],
  ...['parallel', 'pipeline', 'call', 'get_config', 'progress'],
])

/**
 * Requires that the starter of an execution may run this task at this moment. Tasks that the
 * workflow exempts need no permission, nor do those of the SDK unless the workflow defines one of
 * that name.
 */
export async function requireTaskPermission(
  { executions, resolveWorkflow }: TaskPermissionDeps,
  caller: Caller,
  { execution_id, task_name }: { execution_id: string; task_name: string },
): Promise<undefined> {
  if (caller.execution?.exec_id !== execution_id)
    throw new Fault('forbidden', 'Execution token is not bound to this execution')
  if (caller.permissions.kind === 'all') return undefined
  const execution = await executions.getHead(execution_id)
  const { workflow_namespace: namespace, workflow_name: name, workflow_version } = execution
  const needed = `workflow:${namespace}:${name}:task:${task_name}:execute`
  if (hasPermission(caller, needed)) return undefined
  const workflow = await resolveWorkflow(namespace, name, workflow_version)
  const { task_names = [], auth_exempt_tasks = [] } = metadataOf(workflow)
  if (auth_exempt_tasks.includes(task_name)) return undefined
  if (BUILT_IN.has(task_name) && !task_names.includes(task_name)) return undefined
  throw new Fault('forbidden', `Permission denied: requires '${needed}'`, {
    details: { authorized: false, missing_permission: needed },
  })
}
