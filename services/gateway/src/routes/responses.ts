import { toVisibilityMessage, type Visibility } from '@windlass/domain/visibility'
import type { Execution, ListRequest } from '@windlass/proto/windlass/executions/v1/executions'
import type { ExecutionRow, HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import type { RpcClient } from '@windlass/rpc/client'
import { UnimplementedRpc } from '@windlass/rpc/to-fault'
import { unavailable } from '@windlass/runtime/faults'
import type { z } from 'zod'
import { mayReadLog } from '../access/execution.ts'
import type { ExecutionsClient } from '../clients/executions-client.ts'
import { detailed, type JsonText, summary } from '../domain/views.ts'
import { type LogReader, readWholeLog, type WholeLogDeps } from '../live/whole-log.ts'
import type { ExecutionList } from './schemas.ts'
import { plainRequest, type Search } from './search-query.ts'

interface ViewReader extends LogReader {
  query: { detailed: boolean }
}

/** Returns the summary of an execution, or the whole context if requested. */
export async function viewOf(
  deps: WholeLogDeps,
  { query, ...reader }: ViewReader,
  execution: Execution,
): Promise<JsonText> {
  if (!query.detailed) return summary(execution)
  const whole = await readWholeLog(deps, reader, execution.execution_id)
  return detailed(whole.execution, whole.log)
}

/** Returns the whole context only to a caller who may read the log: permission to run does not include that. */
export function viewFor(
  deps: WholeLogDeps,
  { query, caller, ctx }: ViewReader,
  execution: Execution,
): Promise<JsonText> {
  const detailed = query.detailed && mayReadLog(caller, execution)
  return viewOf(deps, { query: { detailed }, caller, ctx }, execution)
}

type ListView = z.input<typeof ExecutionList>

/** Returns a page of executions in the form that replicas without search list them. */
async function plainListView(
  executions: ExecutionsClient,
  visible: Visibility,
  request: Omit<ListRequest, 'visible'>,
): Promise<ListView> {
  const { limit, offset } = request
  const page = await executions.list({ ...request, visible: toVisibilityMessage(visible) })
  requireFiltered(page, visible)
  const rows = page.executions.map(plainRowView)
  const total = { total: page.total, total_exact: true }
  return { executions: rows, ...total, limit, offset, next_cursor: null, cut: false }
}

export interface ListDeps {
  executions: ExecutionsClient
  history: RpcClient<typeof HistoryService>
}

/**
 * Returns a page of executions, without their payloads. A replica of an earlier release applies the filters
 * that it knows; for others the answer is 503.
 */
export async function listView(
  { executions, history }: ListDeps,
  visible: Visibility,
  request: Search,
): Promise<ListView> {
  const { limit, offset } = request
  try {
    const page = await history.search({ ...request, visible: toVisibilityMessage(visible) })
    return {
      executions: page.rows.map(rowView),
      ...{ total: page.total, total_exact: page.total_exact, limit, offset },
      ...{ next_cursor: page.next_cursor || null, cut: page.cut },
    }
  } catch (error) {
    if (!(error instanceof UnimplementedRpc)) throw error
    const plain = plainRequest(request)
    if (!plain) throw unavailable('searches require the upgrade of all replicas of executions')
    return plainListView(executions, visible, plain)
  }
}

/** Members of a row that services of every release have. */
const plainRowView = (row: Execution | ExecutionRow) => ({
  execution_id: row.execution_id,
  workflow_id: row.workflow_id,
  workflow_namespace: row.workflow_namespace,
  workflow_name: row.workflow_name,
  state: row.state,
  worker_name: row.worker_name,
  created_at: timeOf(row.created_at) ?? '',
  updated_at: timeOf(row.updated_at) ?? '',
})

/** A row of a list. */
export const rowView = (row: ExecutionRow): ListView['executions'][number] => ({
  ...plainRowView(row),
  workflow_version: row.workflow_version,
  queued_at: timeOf(row.queued_at),
  started_at: timeOf(row.started_at),
  finished_at: timeOf(row.finished_at),
  attempts: row.attempts,
  created_by: row.created_by,
  schedule_id: row.schedule_id || null,
  parent_id: row.parent_id || null,
  origin_id: row.origin_id ?? null,
  origin_seq: row.origin_seq ?? null,
  input_bytes: row.input_bytes ?? null,
  output_bytes: row.output_bytes ?? null,
  error: row.error ?? null,
  tags: row.tags,
  revision: row.revision,
})

/**
 * Refuses a list that a service of an earlier release did not restrict to what the caller may see:
 * 503 until it is upgraded.
 */
export function requireFiltered({ filtered }: { filtered: boolean }, visible: Visibility): void {
  if (visible.kind === 'only' && !filtered)
    throw unavailable(
      'lists within a namespace require the upgrade of all replicas of a service; retry later',
    )
}

/** RFC 3339 in UTC; null for an absent time. */
export const timeOf = (time: Date | undefined): string | null => time?.toISOString() ?? null
