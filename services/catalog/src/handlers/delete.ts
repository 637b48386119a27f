import type { DeleteRequest } from '@windlass/proto/windlass/catalog/v1/catalog'
import type { Tx } from '@windlass/runtime/postgres/db'
import { emit } from '@windlass/runtime/postgres/outbox'
import * as versions from '../store/versions.ts'
import { keyOf, lockWorkflow } from '../store/workflow-versions.ts'
import { workflowNotFound } from './workflow-not-found.ts'

/** Deletes one version of a workflow, or all with version 0, and emits the event. Returns the count. */
export async function deleteVersions(
  tx: Tx,
  { version, ...name }: DeleteRequest,
  traceparent?: string,
): Promise<number> {
  await lockWorkflow(tx, name)
  const deleted = await versions.remove(tx, name, version)
  if (deleted === 0) throw workflowNotFound(name, version)
  const left = version !== 0 && (await versions.hasVersions(tx, name))
  const value = { ...name, version: left ? version : 0 }
  await emit(
    tx,
    { source: 'catalog', key: keyOf(name), traceparent },
    { $case: 'workflow_deleted', value },
  )
  return deleted
}
