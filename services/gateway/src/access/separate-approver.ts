import { matchesPattern } from '@windlass/domain/name-pattern'
import { needsSeparateApprover } from '@windlass/domain/permissions'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault, unavailable } from '@windlass/runtime/faults'
import { undefinedIfNotFound } from '@windlass/runtime/undefined-if-not-found'
import type { Caches } from '../cache/create-caches.ts'
import type { Caller } from './caller.ts'

export interface SeparateApproverDeps {
  settings: Settings
  resolveWorkflow: Caches['resolveWorkflow']
}

/**
 * Refuses the principal that started an execution as the approver of its task (separation of duties),
 * where the task declares `separate_approver` or the namespace is protected.
 */
export async function requireSeparateApprover(
  deps: SeparateApproverDeps,
  caller: Caller,
  { execution, task_name }: { execution: Execution; task_name: string },
): Promise<void> {
  if (caller.permissions.kind === 'all') return
  const { starter } = execution
  if (starter && (starter.subject !== caller.subject || starter.issuer !== caller.issuer)) return
  if (!(await isRequired(deps, execution, task_name))) return
  // Only a replica of an earlier release does not return the starter.
  if (!starter) throw unavailable('the starter of the execution cannot be verified; retry')
  throw new Fault(
    'forbidden',
    'The principal that started the execution may not decide this call',
    {
      details: { error: 'forbidden', reason: 'separate_approver' },
    },
  )
}

async function isRequired(
  { settings, resolveWorkflow }: SeparateApproverDeps,
  { workflow_namespace: namespace, workflow_name: name, workflow_version }: Execution,
  task_name: string,
): Promise<boolean> {
  const { protected_namespaces } = settings.security
  if (protected_namespaces.some((pattern) => matchesPattern(pattern, namespace))) return true
  const workflow = await resolveWorkflow(namespace, name, workflow_version).catch(
    undefinedIfNotFound,
  )
  // The declarations of a deleted version are unknown, so every task counts as if it declared a separate
  // approver.
  return !workflow || needsSeparateApprover(workflow, task_name)
}
