import type { Visibility } from '@windlass/domain/visibility'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import { visibleScopes } from '../domain/permissions.ts'
import { type Caller, hasPermission, permissionDenied } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'

export interface Deps {
  executions: ExecutionsClient
}

/** A refusal does not disclose whether the execution exists. */
export const mayReadExecution = rule({
  summary:
    'execution:{execution_id}:read, or execution:<namespace>:<workflow>:read for its workflow',
  for: 'people',
  requiredPermissions: ['execution:{execution_id}:read'],
  namespacePermissions: ['execution:{namespace}:{workflow_name}:read'],
  async authorize(
    { params: { execution_id }, caller }: AccessRequest<{ execution_id: string }>,
    { executions }: Deps,
  ): Promise<void> {
    const needed = `execution:${execution_id}:read`
    if (hasPermission(caller, needed)) return
    if (visibleScopes(caller.permissions, 'execution').length === 0) throw permissionDenied(needed)
    const execution = await executions.findHead(execution_id)
    if (!execution || !hasPermission(caller, readPermissionOf(execution)))
      throw permissionDenied(needed)
  },
})

export const mayListExecutions = rule({
  summary:
    'execution:*:read, or execution:<namespace>:<workflow>:read; executions of other workflows are left out',
  for: 'people',
  isFiltered: true,
  requiredPermissions: ['execution:*:read'],
  namespacePermissions: ['execution:{namespace}:{workflow_name}:read'],
  async authorize({ caller }: AccessRequest<unknown>): Promise<Visibility> {
    if (hasPermission(caller, 'execution:*:read')) return { kind: 'all' }
    const workflows = visibleScopes(caller.permissions, 'execution')
    if (workflows.length === 0) throw permissionDenied('execution:*:read')
    return { kind: 'only', workflows, ids: [] }
  },
})

/**
 * True if the caller may read the log of an execution. Permission to run, resume or cancel it does
 * not include that.
 */
export function mayReadLog(
  caller: Caller,
  execution: Pick<Execution, 'execution_id' | 'workflow_namespace' | 'workflow_name'>,
): boolean {
  const { execution_id, workflow_namespace: namespace, workflow_name: name } = execution
  return (
    hasPermission(caller, `workflow:${namespace}:${name}:read`) ||
    hasPermission(caller, `execution:${execution_id}:read`) ||
    hasPermission(caller, readPermissionOf(execution))
  )
}

const readPermissionOf = ({
  workflow_namespace: namespace,
  workflow_name: name,
}: Pick<Execution, 'workflow_namespace' | 'workflow_name'>) => `execution:${namespace}:${name}:read`
