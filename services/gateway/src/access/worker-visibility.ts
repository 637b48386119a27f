import type { Worker } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { visibleScopes } from '../domain/permissions.ts'
import { type Caller, hasPermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'

/** Tells whether a caller sees a worker. */
export type IsVisibleWorker = (worker: Pick<Worker, 'namespaces'>) => boolean

/**
 * Workers are open to every caller, by the contract, except those of other tenants: a worker that is
 * restricted to namespaces is shown to callers with a workflow or an execution in one of these, and
 * to callers that may read all workers. To others it is absent.
 */
export const seesWorkers = rule({
  summary:
    'to be authenticated; a worker that is restricted to namespaces is left out without worker:*:read, or permission to read or run a workflow, or to read an execution, of one of these',
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
