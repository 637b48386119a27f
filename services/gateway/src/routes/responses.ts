import { toVisibilityMessage, type Visibility } from '@windlass/domain/visibility'
import type { Execution, ListRequest } from '@windlass/proto/windlass/executions/v1/executions'
import { unavailable } from '@windlass/runtime/faults'
import type { z } from 'zod'
import type { ExecutionsClient } from '../clients/executions-client.ts'
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
  visible: Visibility,
  request: Omit<ListRequest, 'visible'>,
): Promise<z.input<typeof ExecutionList>> {
  const { limit, offset } = request
  const page = await executions.list({ ...request, visible: toVisibilityMessage(visible) })
  requireFiltered(page, visible)
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

/**
 * Refuses a list that a service of an earlier release did not restrict to what the caller may see:
 * 503 until it is upgraded.
 */
export function requireFiltered({ filtered }: { filtered: boolean }, visible: Visibility): void {
  if (visible.kind === 'only' && !filtered)
    throw unavailable('lists within a namespace require the upgrade of a service; retry')
}

/** RFC 3339 in UTC; null for an absent time. */
export const timeOf = (time: Date | undefined): string | null => time?.toISOString() ?? null
