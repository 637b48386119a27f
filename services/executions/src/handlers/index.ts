import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import type { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { Handlers } from '@windlass/rpc/call'
import type { ServiceIdentity } from '@windlass/rpc/service-identity'
import { notFound } from '@windlass/runtime/faults'
import { newId } from '@windlass/runtime/ids'
import type { Bus } from '@windlass/runtime/nats/bus'
import type { Db } from '@windlass/runtime/postgres/db'
import { ready } from '../announce.ts'
import type { Door } from '../change.ts'
import { starterOf, toMessage } from '../message.ts'
import { requeue } from '../requeue.ts'
import { parseRequirement } from '../requirement.ts'
import type { Standing } from '../standing.ts'
import * as executions from '../store/executions.ts'
import * as keys from '../store/keys.ts'
import * as lists from '../store/list.ts'
import * as log from '../store/log.ts'
import * as queue from '../store/ready.ts'
import * as totals from '../store/totals.ts'
import { awaiter } from './await-work.ts'
import { leaser } from './lease.ts'
import { submitter } from './submit.ts'

/** Entries of one page of a log. */
const MAX_PAGE = 1_000
/** A page ends earlier than that when its values are large. */
const MAX_PAGE_BYTES = 8 * 1_048_576

export interface Parts {
  db: Db
  bus: Bus
  door: Door
  standing: Standing
  serviceIdentity: ServiceIdentity
  tokens: ExecutionTokens
}

export const handlers = ({
  db,
  bus,
  door,
  standing,
  serviceIdentity,
  tokens,
}: Parts): Handlers<typeof ExecutionsService> => ({
  submit: submitter({ db, door, serviceIdentity, tokens }),

  awaitWork: awaiter({ db, door, standing, tokens, ready: (ids) => ready(bus, ids) }),

  lease: leaser(db, door, tokens),

  requeue: async ({ worker_name, connection_generation, died }) => ({
    requeued: await requeue(db, door, {
      worker_name,
      connection_generation,
      loss: died ? 'died' : 'released',
    }),
  }),

  reserveKey: async ({ key_id }) => ({ execution_id: await keys.reserve(db, key_id, newId()) }),

  async get({ execution_ids }) {
    const rows = await executions.getMany(db, execution_ids)
    return { executions: rows.map((row) => ({ ...toMessage(row), starter: starterOf(row) })) }
  },

  async log({ execution_id, after_seq, limit }) {
    const most = Math.min(limit || MAX_PAGE, MAX_PAGE)
    const row = await executions.find(db, execution_id)
    if (!row) throw notFound('Execution', execution_id)
    const read = await log.page(db, execution_id, { after: after_seq, limit: most + 1 })
    // Of one moment: a log only grows, and the row says how long it was.
    const entries = log.until(read, row)
    const page = withinBytes(entries.slice(0, most))
    return { execution: toMessage(row), entries: page, more: page.length < entries.length }
  },

  async list({ limit, offset, ...filter }) {
    const [rows, total] = await Promise.all([
      lists.list(db, { ...filter, limit, offset }),
      totals.count(db, filter),
    ])
    return { executions: rows.map(toMessage), total }
  },

  async listReady({ known_ids }) {
    const known = new Set(known_ids)
    const rows = await queue.requirements(db)
    const requirements = rows.map(({ requirement_id, body }) => ({
      requirement_id,
      requirement: known.has(requirement_id) ? undefined : parseRequirement(body),
    }))
    return { requirements }
  },
})

/** At least one entry, and no more than fit: a log with large values goes in more pages. */
function withinBytes(entries: log.Entry[]): log.Entry[] {
  let bytes = 0
  const end = entries.findIndex((entry, i) => {
    bytes += entry.value_json.length
    return i > 0 && bytes > MAX_PAGE_BYTES
  })
  return end < 0 ? entries : entries.slice(0, end)
}
