import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import type {
  LeaseRequest,
  LeaseResponse,
  Offer,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Db } from '@windlass/runtime/postgres/db'
import { type Assignment, assign } from '../domain/assign.ts'
import type { Execution } from '../domain/execution.ts'
import { toMessage } from '../domain/message.ts'
import type { LogCache } from '../engine/cache/logs.ts'
import { readLargeInputs } from '../engine/inputs.ts'
import { toCandidateWorker } from '../engine/offers.ts'
import { readLogs } from '../engine/read-logs.ts'
import type { ExecutionWriter } from '../engine/writer.ts'
import * as ready from '../store/ready.ts'

const MAX_LEASES = 128

/**
 * Gives queued work to workers: picks in queue order without a lock, and lets the writer decide each
 * again under its locks. What another replica took meanwhile is simply not among the answers.
 */
export const createLeaseHandler =
  (db: Db, writer: ExecutionWriter, tokens: ExecutionTokens) =>
  async ({ offers, limit }: LeaseRequest): Promise<LeaseResponse> => {
    const wanted = [...new Set(offers.flatMap((offer) => offer.requirement_ids))]
    const most = Math.min(limit || MAX_LEASES, MAX_LEASES)
    if (wanted.length === 0) return { leases: [], loads: [], more: false }
    const names = offers.map(({ worker_name }) => worker_name)
    const [candidates, held] = await Promise.all([
      ready.listQueued(db, wanted, most + 1),
      ready.loads(db, names),
    ])
    const used = new Map(held.map((load) => [load.worker_name, load.used]))
    const rooms = offers.map((offer) => toCandidateWorker(offer, used.get(offer.worker_name) ?? 0))
    const assignments = assign(candidates.slice(0, most), rooms)
    const leased = await leaseAssignments(writer, offers, assignments)
    for (const { worker_name = '' } of leased)
      used.set(worker_name, (used.get(worker_name) ?? 0) + 1)
    return {
      leases: await toLeases(db, writer.logs, { tokens, leased }),
      loads: names.map((worker_name) => ({ worker_name, used: used.get(worker_name) ?? 0 })),
      more: candidates.length > most || leased.length < assignments.length,
    }
  }

export async function leaseAssignments(
  writer: ExecutionWriter,
  offers: readonly Offer[],
  assignments: readonly Assignment[],
): Promise<Execution[]> {
  const byName = new Map(offers.map((offer) => [offer.worker_name, offer]))
  const results = await Promise.all(
    assignments.map(async ({ execution_id, worker_name }) => {
      const offer = byName.get(worker_name) as Offer
      const command = { kind: 'lease', offer, capacity: offer.capacity } as const
      const result = await writer.submit({ execution_id, command })
      // A lease that came too late leaves the row as another made it, perhaps for this very worker.
      return 'execution' in result && result.changed ? [result.execution] : []
    }),
  )
  return results.flat()
}

export interface Leased {
  tokens: ExecutionTokens
  leased: readonly Execution[]
}

/** Leased work as its dispatcher takes it. */
export async function toLeases(db: Db, recent: LogCache, { tokens, leased }: Leased) {
  if (leased.length === 0) return []
  const [logs, inputs] = await Promise.all([
    readLogs(db, recent, leased),
    readLargeInputs(db, leased),
  ])
  return leased.map((row) => ({
    execution: toMessage({
      ...row,
      input_json: row.input_json ?? inputs.get(row.execution_id) ?? 'null',
    }),
    log: logs.get(row) ?? [],
    resumed: row.state === 'RESUME_SCHEDULED',
    execution_token: tokens.mint({ ...row, worker_name: row.held_by ?? '' }),
  }))
}
