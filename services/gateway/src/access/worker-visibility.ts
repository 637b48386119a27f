import type { Worker } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { visibleScopes } from '../domain/permissions.ts'
import { type Caller, hasPermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'

/** Returns true if a caller sees a worker. */
export type IsVisibleWorker = (worker: Pick<Worker, 'namespaces'>) => boolean

/**
 * By the contract workers are visible to every caller, except those of other tenants: a worker that is
 * restricted to namespaces is visible to callers with a workflow or an execution in one of these
 * namespaces, and to callers that may read all workers. For others it does not exist.
 */
export const seesWorkers = rule({
  summary:
    'authenticated; a worker that is restricted to namespaces is left out without worker:*:read, or permission to read or run a workflow, or to read an execution, of one of these',
  for: 'people',
  isFiltered: true,
  requiredPermissions: [],
  authorize: async ({ caller }: AccessRequest<unknown>) => isVisibleTo(caller),
})

export function isVisibleTo(caller: Caller): IsVisibleWorker {
  const seesAll = hasPermission(caller, 'worker:*:read')
  const { permissions } = caller
  const scopes = [
    ...visibleScopes(permissions, 'workflow', 'read'),
    ...visibleScopes(permissions, 'workflow', 'run'),
    ...visibleScopes(permissions, 'execution', 'read'),
  ]
  const own = new Set(scopes.map(({ namespace }) => namespace))
  return ({ namespaces }) =>
    seesAll || !namespaces || own.has('*') || namespaces.names.some((name) => own.has(name))
}
