import { ALL_WORKFLOWS } from '@windlass/domain/list-workflows'
import type { SchedulerDeps } from '../engine/deps.ts'
import { reconcile } from '../engine/reconcile.ts'
import * as declarations from '../store/declarations.ts'

const LIST_MS = 10_000

/**
 * Reconciles each workflow whose latest version differs from the last one seen, in case an event
 * was lost.
 */
export async function reconcileAll(deps: SchedulerDeps): Promise<void> {
  const { workflows } = await deps.catalog.list(
    { ...ALL_WORKFLOWS, names_only: true },
    { timeoutMs: LIST_MS },
  )
  const unseen = new Map((await declarations.listSeen(deps.db)).map((seen) => [keyOf(seen), seen]))
  for (const { namespace: workflow_namespace, name: workflow_name, id } of workflows) {
    const workflow = { workflow_namespace, workflow_name }
    const known = unseen.get(keyOf(workflow))
    unseen.delete(keyOf(workflow))
    if (known?.workflow_id !== id) await tryReconcile(deps, workflow)
  }
  for (const deleted of unseen.values()) await tryReconcile(deps, deleted)
}

/** A workflow that fails must not block the others. */
async function tryReconcile(
  deps: SchedulerDeps,
  workflow: declarations.WorkflowName,
): Promise<void> {
  try {
    await reconcile(deps, workflow)
  } catch (error) {
    deps.log.warn({ err: error, workflow: keyOf(workflow) }, 'failed to reconcile workflow')
  }
}

/** Neither part contains a slash. */
const keyOf = ({ workflow_namespace, workflow_name }: declarations.WorkflowName) =>
  `${workflow_namespace}/${workflow_name}`
