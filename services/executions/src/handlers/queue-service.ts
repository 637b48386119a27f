import type { QueueService } from '@windlass/proto/windlass/executions/v1/executions'
import type { Handlers } from '@windlass/rpc/call'
import { notFound } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { queueStatus } from '../store/explain.ts'
import * as ready from '../store/ready.ts'
import { parseRequirement } from './requirement.ts'

export const queueHandlers = (db: Db): Handlers<typeof QueueService> => ({
  async explain({ execution_id }) {
    const row = await queueStatus(db, execution_id)
    if (!row) throw notFound('Execution', execution_id)
    const { body, held_by = '', queued_at, deadline_at, ...rest } = row
    return { ...rest, requirement: parseRequirement(body), held_by, queued_at, deadline_at }
  },

  loads: async ({ worker_names }) => ({ loads: await ready.loads(db, worker_names) }),
})
