import type { QueueService } from '@windlass/proto/windlass/executions/v1/executions'
import type { Handlers } from '@windlass/rpc/call'
import { notFound } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { listUndone, queueStatus } from '../store/explain.ts'
import * as ready from '../store/ready.ts'
import { parseRequirement } from './requirement.ts'

export const queueHandlers = (db: Db): Handlers<typeof QueueService> => ({
  async explain({ execution_id }) {
    const row = await queueStatus(db, execution_id)
    if (!row) throw notFound('Execution', execution_id)
    const { body, held_by = '', handed_over_by = '', queued_at, deadline_at, ...rest } = row
    const undone = row.state === 'CANCELLED' ? await listUndone(db, execution_id) : []
    const requirement = parseRequirement(body)
    return { ...rest, requirement, held_by, handed_over_by, undone, queued_at, deadline_at }
  },

  loads: async ({ worker_names }) => ({ loads: await ready.loads(db, worker_names) }),
})
