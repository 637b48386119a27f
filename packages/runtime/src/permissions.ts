import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'

/**
 * Whether what is granted covers what is needed, segment by segment. A `*` in the granted text
 * stands for any one segment, and for all that follow when it comes last. In the needed text it is a
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

type Metadata = Partial<Record<string, string[]>>

export const metadataOf = ({ metadata_json }: Workflow) =>
  JSON.parse(metadata_json || '{}') as Metadata

/** The permissions that a workflow declares. */
export const requiredBy = (workflow: Workflow): string[] =>
  metadataOf(workflow).required_permissions ?? []

/** What somebody needs to run a workflow: the right to run it, what it declares, and its tasks. */
export function neededToRun(workflow: Workflow): string[] {
  const { namespace, name } = workflow
  const metadata = metadataOf(workflow)
  const exempt = new Set(metadata.auth_exempt_tasks)
  const tasks = (metadata.task_names ?? []).filter((task) => !exempt.has(task))
  return [
    `workflow:${namespace}:${name}:run`,
    ...requiredBy(workflow),
    ...tasks.map((task) => `workflow:${namespace}:${name}:task:${task}:execute`),
  ]
}

/** What of it is not covered by anything granted. */
export const missingToRun = (granted: readonly string[], workflow: Workflow): string[] =>
  neededToRun(workflow).filter((needed) => !granted.some((held) => permits(held, needed)))
