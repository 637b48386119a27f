import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { Fault, notFound } from '@windlass/runtime/faults'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import { type Caller, hasPermission } from './caller.ts'

interface ExecutionPath {
  execution_id: string
  namespace: string
  workflow_name: string
}

/**
 * Returns the execution of a path. One of another workflow is not found; only a caller that may
 * read that workflow gets the reason.
 */
export async function getInWorkflow(
  executions: ExecutionsClient,
  { execution_id, namespace, workflow_name }: ExecutionPath,
  caller: Caller,
): Promise<Execution> {
  const execution = await executions.get(execution_id)
  const { workflow_namespace, workflow_name: name } = execution
  if (workflow_namespace === namespace && name.normalize('NFC') === workflow_name) return execution
  if (!hasPermission(caller, `workflow:${workflow_namespace}:${name}:read`))
    throw notFound('Execution', execution_id)
  throw new Fault(
    'not_found',
    `Execution ${execution_id} does not belong to workflow ${namespace}/${workflow_name}.`,
  )
}
