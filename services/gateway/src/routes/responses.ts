import type { Execution, ListRequest } from '@windlass/proto/windlass/executions/v1/executions'
import type { z } from 'zod'
import type { ExecutionsClient } from '../clients/executions.ts'
import { detailed, type JsonText, summary } from '../domain/views.ts'
import type { ExecutionList } from './schemas.ts'

/** Returns the summary of an execution, or the whole context if requested. */
export async function viewOf(
  executions: ExecutionsClient,
  execution: Execution,
  isDetailed: boolean,
): Promise<JsonText> {
  if (!isDetailed) return summary(execution)
  const whole = await executions.withLog(execution.execution_id)
  return detailed(whole.execution, whole.log)
}

/** Returns a page of executions, without their payloads. */
export async function listView(
  executions: ExecutionsClient,
  request: ListRequest,
): Promise<z.input<typeof ExecutionList>> {
  const { limit, offset } = request
  const page = await executions.list(request)
  const rows = page.executions.map((row) => ({
    execution_id: row.execution_id,
    workflow_id: row.workflow_id,
    workflow_namespace: row.workflow_namespace,
    workflow_name: row.workflow_name,
    state: row.state,
    worker_name: row.worker_name,
    created_at: timeOf(row.created_at) ?? '',
    updated_at: timeOf(row.updated_at) ?? '',
  }))
  return { executions: rows, total: page.total, limit, offset }
}

/** RFC 3339 in UTC; null for an absent time. */
export const timeOf = (time: Date | undefined): string | null => time?.toISOString() ?? null
