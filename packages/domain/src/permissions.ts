import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { invalid } from '@windlass/runtime/faults'
import { matchesPattern } from './name-pattern.ts'
import type { Tags } from './tags.ts'

/**
 * True if a granted permission covers a required one, segment by segment. A `*` in the granted text stands
 * for any one segment, or for all remaining segments when it comes last. In the required text it is a
 * literal: `execution:*:read` is not covered by `execution:<id>:read`.
 */
export function permits(granted: string, needed: string): boolean {
  const held = granted.split(':')
  const asked = needed.split(':')
  const isOpen = held.at(-1) === '*'
  if (isOpen) held.pop()
  if (isOpen ? asked.length < held.length : asked.length !== held.length) return false
  return held.every((segment, i) => segment === '*' || segment === asked[i])
}

/**
 * Permissions of a caller. `all` stands for a caller whose permissions are not checked, because
 * authentication is off; an absent value never means that.
 */
export type Permissions = { kind: 'all' } | { kind: 'only'; granted: readonly string[] }

export const ALL_PERMISSIONS: Permissions = { kind: 'all' }
export const NO_PERMISSIONS: Permissions = { kind: 'only', granted: [] }

export const onlyPermissions = (granted: readonly string[]): Permissions => ({
  kind: 'only',
  granted,
})

/** True if the permissions cover the required one. */
export const covers = (permissions: Permissions, needed: string): boolean =>
  permissions.kind === 'all' || permissions.granted.some((granted) => permits(granted, needed))

interface Metadata {
  required_permissions?: string[]
  task_names?: string[]
  auth_exempt_tasks?: string[]
  secret_requests?: string[]
  /** Tasks whose approvals the starter of the execution may not decide; may be templates. */
  separate_approver_tasks?: string[]
  /** Namespaces and names of the workflows that it runs as nested runs. */
  nested_workflows?: [namespace: string, name: string][]
  priority?: number
  tags?: Tags
}

const read = new WeakMap<Workflow, Metadata>()

/** Metadata that a workflow declares, parsed once for each cached workflow. */
export function metadataOf(workflow: Workflow): Metadata {
  const known = read.get(workflow)
  if (known) return known
  const metadata: Metadata = JSON.parse(workflow.metadata_json || '{}')
  read.set(workflow, metadata)
  return metadata
}

/** The level in the ready queue that a workflow declares for its executions. */
export const declaredPriority = (workflow: Workflow): number | undefined =>
  metadataOf(workflow).priority

/** The tags that a workflow declares for its executions. */
export const declaredTags = (workflow: Workflow): Tags => metadataOf(workflow).tags ?? {}

/** The permissions that a workflow declares. */
export const declaredPermissions = (workflow: Workflow): string[] =>
  metadataOf(workflow).required_permissions ?? []

/**
 * True if a task declares a separate approver. A declared name may be a template such as `store_{x}`, which
 * stands for every name that it can produce.
 */
export const needsSeparateApprover = (workflow: Workflow, task_name: string): boolean =>
  (metadataOf(workflow).separate_approver_tasks ?? []).some((declared) =>
    matchesPattern(declared.replace(/{[^}]*}/g, '*'), task_name),
  )

/** The latest version of a workflow, undefined where there is none. */
export type FindLatest = (namespace: string, name: string) => Promise<Workflow | undefined>

/**
 * Maximum number of permissions and of references to nested workflows that are visited for one workflow. A
 * source of 60 KB can declare 1,000 workflows that all run each other: these have a million references.
 */
const MAX_VISITED = 20_000

/**
 * Returns the permissions for running a workflow: to run it, those that it declares, and those of its
 * tasks; then the same for every nested workflow. For a nested workflow that does not exist yet, only the
 * permission to run it. Throws `invalid` if there are too many.
 */
export async function permissionsToRun(
  workflow: Workflow,
  latest: FindLatest,
  maxVisited = MAX_VISITED,
): Promise<string[]> {
  const needed = new Set<string>()
  const seen = new Set([`${workflow.namespace}/${workflow.name}`])
  let visited = 0
  const count = (more: number): void => {
    visited += more
    if (visited > maxVisited) throw tooManyPermissions(workflow, maxVisited)
  }
  const add = async (one: Workflow): Promise<void> => {
    const own = ownPermissionsToRun(one)
    const { nested_workflows = [] } = metadataOf(one)
    count(own.length + nested_workflows.length)
    for (const permission of own) needed.add(permission)
    for (const [namespace, name] of nested_workflows) {
      if (seen.has(`${namespace}/${name}`)) continue
      seen.add(`${namespace}/${name}`)
      const nested = await latest(namespace, name)
      if (nested) await add(nested)
      else needed.add(`workflow:${namespace}:${name}:run`)
    }
  }
  await add(workflow)
  return [...needed]
}

const tooManyPermissions = ({ namespace, name }: Workflow, most: number) =>
  invalid(
    `Workflow '${namespace}/${name}' has, with all workflows that it runs, more than ${most} tasks and nested runs: split it`,
  )

function ownPermissionsToRun(workflow: Workflow): string[] {
  const { namespace, name } = workflow
  const { task_names = [], auth_exempt_tasks } = metadataOf(workflow)
  const exempt = new Set(auth_exempt_tasks)
  const tasks = task_names.filter((task) => !exempt.has(task))
  return [
    `workflow:${namespace}:${name}:run`,
    ...declaredPermissions(workflow),
    ...tasks.map((task) => `workflow:${namespace}:${name}:task:${task}:execute`),
  ]
}

/** Permissions for running a workflow that no granted permission covers. */
export async function missingPermissionsToRun(
  permissions: Permissions,
  workflow: Workflow,
  latest: FindLatest,
): Promise<string[]> {
  if (permissions.kind === 'all' || permissions.granted.includes('*')) return []
  const needed = await permissionsToRun(workflow, latest)
  return needed.filter((one) => !covers(permissions, one))
}
