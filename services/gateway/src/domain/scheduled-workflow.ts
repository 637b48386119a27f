import { namespaceOf, splitWorkflowRef, workflowNameOf } from '@windlass/domain/names'
import { unprocessable } from '@windlass/runtime/faults'

export interface ScheduledWorkflow {
  workflow_namespace: string
  workflow_name: string
}

/** Returns the workflow that a new schedule names, as `name`, `namespace/name` or with its namespace. */
export function scheduledWorkflowOf(
  given_namespace: string,
  workflow_ref: string,
): ScheduledWorkflow {
  const { namespace, name } = given_namespace
    ? { namespace: given_namespace, name: workflow_ref }
    : splitWorkflowRef(workflow_ref)
  const workflow_namespace = namespaceOf(namespace)
  const workflow_name = workflowNameOf(name)
  if (workflow_namespace !== undefined && workflow_name !== undefined)
    return { workflow_namespace, workflow_name }
  throw unprocessable({
    loc: ['body', workflow_namespace === undefined ? 'workflow_namespace' : 'workflow_name'],
    msg: 'is not the name of a workflow',
    type: 'value_error',
  })
}
