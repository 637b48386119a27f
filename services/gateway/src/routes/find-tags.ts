import { toVisibilityMessage } from '@windlass/domain/visibility'
import type { Execution } from '@windlass/proto/windlass/executions/v1/executions'
import type { HistoryService } from '@windlass/proto/windlass/executions/v1/history'
import type { RpcClient } from '@windlass/rpc/client'
import { UnimplementedRpc } from '@windlass/rpc/to-fault'
import { z } from 'zod'
import { searchOf, searchQuery, workflowQuery } from './search-query.ts'

const EVERYTHING = z.object({ ...workflowQuery, ...searchQuery }).parse({})

/** Returns the tags of an execution; none from a replica of a release without tags. */
export async function findTags(
  { history }: { history: RpcClient<typeof HistoryService> },
  { execution_id }: Execution,
): Promise<Record<string, string>> {
  const visible = toVisibilityMessage({ kind: 'all' })
  const search = { ...searchOf(EVERYTHING), id_prefix: execution_id, limit: 1 }
  try {
    const { rows } = await history.search({ ...search, visible })
    return rows[0]?.tags ?? {}
  } catch (error) {
    if (error instanceof UnimplementedRpc) return {}
    throw error
  }
}
