import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import { readVisibility } from '@windlass/domain/visibility'
import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { Handlers } from '@windlass/rpc/call'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { notFound } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import { starterOf, toMessage } from '../domain/message.ts'
import type { LogPartitions } from '../engine/log-partitions.ts'
import type { LogSizes } from '../engine/log-sizes.ts'
import { notifyReady } from '../engine/notify.ts'
import type { QueueQuota } from '../engine/queue-quota.ts'
import { requeue } from '../engine/requeue.ts'
import type { WaitingDispatchers } from '../engine/waiters.ts'
import type { ExecutionWriter } from '../engine/writer.ts'
import * as executions from '../store/executions.ts'
import * as keys from '../store/keys.ts'
import * as lists from '../store/list.ts'
import * as log from '../store/log.ts'
import * as queue from '../store/ready.ts'
import * as totals from '../store/totals.ts'
import { createAwaitWorkHandler } from './await-work.ts'
import { createLeaseHandler } from './lease.ts'
import { parseRequirement } from './requirement.ts'
import { createSubmitHandler } from './submit.ts'

/** Maximum number of entries of a log page. */
const MAX_PAGE = 1_000

export interface ExecutionsDeps {
  db: Db
  /** Connections for reads that may be slow. */
  reads: Db
  bus: Bus
  writer: ExecutionWriter
  waiters: WaitingDispatchers
  serviceIdentity: ServiceIdentity
  tokens: ExecutionTokens
  /** Milliseconds until a lease that is not claimed ends. */
  claimMs: number
  queueQuota: QueueQuota
  logSizes: LogSizes
  logPartitions: LogPartitions
}

/** Creates the handlers of the service `Executions`; hot rpcs have files of their own. */
export function executionsHandlers(deps: ExecutionsDeps): Handlers<typeof ExecutionsService> {
  const { db, bus, writer } = deps
  return {
    submit: createSubmitHandler(deps),
    awaitWork: createAwaitWorkHandler({ ...deps, onUnleased: (ids) => notifyReady(bus, ids) }),
    lease: createLeaseHandler(deps),

    requeue: async ({ worker_name, connection_generation, died }) => ({
      requeued: await requeue(db, writer, {
        worker_name,
        connection_generation,
        loss: died ? 'died' : 'released',
      }),
    }),

    reserveKey: async ({ key_id, execution_id }) => ({
      execution_id: await keys.reserve(db, key_id, execution_id || newId()),
    }),

    async get({ execution_ids, without_payloads }) {
      const getRows = without_payloads ? executions.getHeads : executions.getMany
      const rows = await getRows(db, execution_ids)
      return { executions: rows.map((row) => ({ ...toMessage(row), starter: starterOf(row) })) }
    },

    async log({ execution_id, after_seq, limit }) {
      const most = Math.min(limit || MAX_PAGE, MAX_PAGE)
      const row = await executions.find(db, execution_id)
      if (!row) throw notFound('Execution', execution_id)
      // A log only grows: up to the `last_seq` of the row, it matches the row.
      const range = { after: after_seq, upTo: row.last_seq }
      const entries = await log.readLogPage(db, execution_id, range, most)
      const more = (entries.at(-1)?.seq ?? row.last_seq) < row.last_seq
      return { execution: toMessage(row), entries, more }
    },

    async list({ limit, offset, visible: requested, ...request }) {
      const filter = { ...request, visible: readVisibility(requested) }
      const [rows, total] = await Promise.all([
        lists.list(db, { ...filter, limit, offset }),
        totals.count(db, filter),
      ])
      return { executions: rows.map(toMessage), total, filtered: true }
    },

    async listReady({ known_ids }) {
      const known = new Set(known_ids)
      const rows = await queue.listReadyRequirements(db)
      const requirements = rows.map(({ requirement_id, body }) => ({
        requirement_id,
        requirement: known.has(requirement_id) ? undefined : parseRequirement(body),
      }))
      return { requirements }
    },
  }
}
