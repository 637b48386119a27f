import {
  type FindLatest,
  metadataOf,
  type Permissions,
  permissionsToRun,
  permits,
} from '@windlass/domain/permissions'
import type { WorkflowScope } from '@windlass/domain/visibility'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'

/** Kinds of objects that belong to a workflow: `<resource>:<namespace>:<workflow>:<verb>`. */
type Resource = 'workflow' | 'execution' | 'schedule'

/** Returns the workflows for which these permissions allow a verb; `*` stands for every namespace or name. */
export function scopesIn(
  granted: readonly string[],
  needed: { resource: Resource; verb: string },
): WorkflowScope[] {
  return granted.flatMap((permission) => {
    const held = permission.split(':')
    const isOpen = held.at(-1) === '*'
    if (isOpen) held.pop()
    if (isOpen ? held.length > 4 : held.length !== 4) return []
    const [resource = '*', namespace = '*', name = '*', verb = '*'] = held
    const isCovered = [needed.resource, '*'].includes(resource) && [needed.verb, '*'].includes(verb)
    return isCovered ? [{ namespace, name }] : []
  })
}

/** True if these permissions allow uploads to at least one namespace. */
export const mayRegisterSomewhere = (permissions: Permissions): boolean =>
  permissions.kind === 'all' ||
  permissions.granted.some((permission) => {
    const [, namespace = '*'] = permission.split(':')
    return permits(permission, `workflow:${namespace}:*:register`)
  })

/** Returns `scopesIn` of a caller; all workflows while permissions are not checked. */
export const visibleScopes = (
  permissions: Permissions,
  resource: Resource,
  verb = 'read',
): WorkflowScope[] =>
  permissions.kind === 'all'
    ? [{ namespace: '*', name: '*' }]
    : scopesIn(permissions.granted, { resource, verb })

/** Returns the ids of the schedules that these permissions name one by one for reading. */
export function schedulesIn(granted: readonly string[]): string[] {
  const named = granted.flatMap((permission) => {
    const [, id = ''] = permission.split(':')
    return /^[0-9a-f]{32}$/.test(id) && permits(permission, `schedule:${id}:read`) ? [id] : []
  })
  return [...new Set(named)]
}

/** True for permissions to read a workflow, to run it and to read the secrets that it declares. */
export async function permissionsFor(
  workflow: Workflow,
  latest: FindLatest,
  maxVisited?: number,
): Promise<string[]> {
  const { namespace, name } = workflow
  const secrets = metadataOf(workflow).secret_requests ?? []
  return [
    ...new Set([
      `workflow:${namespace}:${name}:read`,
      ...(await permissionsToRun(workflow, latest, maxVisited)),
      ...(secrets.length > 0 ? ['admin:secrets:read'] : []),
    ]),
  ]
}
