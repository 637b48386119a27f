import {
  type FindLatest,
  metadataOf,
  permissionsToRun,
  permits,
} from '@windlass/domain/permissions'
import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'

/** Returns the workflows that these permissions allow to read; `*` stands for every namespace or name. */
export function readableScopes(granted: readonly string[]): { namespace: string; name: string }[] {
  return granted.flatMap((permission) => {
    const held = permission.split(':')
    const isOpen = held.at(-1) === '*'
    if (isOpen) held.pop()
    if (isOpen ? held.length > 4 : held.length !== 4) return []
    const [resource = '*', namespace = '*', name = '*', verb = '*'] = held
    const reads = ['workflow', '*'].includes(resource) && ['read', '*'].includes(verb)
    return reads ? [{ namespace, name }] : []
  })
}

/** True if these permissions allow to upload to at least one namespace. */
export const mayRegisterSomewhere = (granted: readonly string[]): boolean =>
  granted.some((permission) => {
    const [, namespace = '*'] = permission.split(':')
    return permits(permission, `workflow:${namespace}:*:register`)
  })

/** Returns the ids of the schedules that these permissions name one by one for reading. */
export function schedulesIn(granted: readonly string[]): string[] {
  const named = granted.flatMap((permission) => {
    const [, id = ''] = permission.split(':')
    return /^[0-9a-f]{32}$/.test(id) && permits(permission, `schedule:${id}:read`) ? [id] : []
  })
  return [...new Set(named)]
}

/** True with permission to read a workflow, to run it and to read the secrets that it declares. */
export async function permissionsFor(workflow: Workflow, latest: FindLatest): Promise<string[]> {
  const { namespace, name } = workflow
  const secrets = metadataOf(workflow).secret_requests ?? []
  return [
    ...new Set([
      `workflow:${namespace}:${name}:read`,
      ...(await permissionsToRun(workflow, latest)),
      ...(secrets.length > 0 ? ['admin:secrets:read'] : []),
    ]),
  ]
}
