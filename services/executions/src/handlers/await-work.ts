import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import type {
  AwaitWorkRequest,
  LeaseResponse,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Call } from '@windlass/rpc/call'
import type { Db } from '@windlass/runtime/postgres/db'
import type { WaitingDispatchers } from '../engine/waiters.ts'
import type { ExecutionWriter } from '../engine/writer.ts'
import { leaseAssignments, releaseIfLost, releaseUndelivered } from './lease.ts'
import { NO_LEASES, readLeases } from './lease-answer.ts'

const MAX_WAIT_MS = 5_000

interface AwaitWorkDeps {
  db: Db
  writer: ExecutionWriter
  waiters: WaitingDispatchers
  tokens: ExecutionTokens
  claimMs: number
  /** Called with the requirements of work that could not be leased here. */
  onUnleased(requirement_ids: Iterable<string>): void
}

/** Long poll: answers as soon as there is work for the offers, or without work after `wait_ms`. */
export const createAwaitWorkHandler =
  ({ db, writer, waiters, tokens, claimMs, onUnleased }: AwaitWorkDeps) =>
  async ({ offers, wait_ms }: AwaitWorkRequest, call: Call): Promise<LeaseResponse> => {
    const { signal, answerNow } = call
    const ms = Math.min(wait_ms, MAX_WAIT_MS)
    const { assignments, leased: created } = await waiters.wait(offers, ms, [signal, answerNow])
    if (assignments.length + created.length === 0) return NO_LEASES
    const fromQueue = await leaseAssignments(writer, offers, assignments)
    const leased = [...created, ...fromQueue]
    const delivered = signal.aborted ? await releaseUndelivered(writer, leased) : leased
    releaseIfLost(writer, delivered, call)
    const { leases, remaining } = await readLeases(db, writer.logs, {
      tokens,
      claimMs,
      leased: delivered,
    })
    await releaseUndelivered(writer, remaining)
    if (fromQueue.length < assignments.length || remaining.length > 0)
      onUnleased(new Set(offers.flatMap(({ requirement_ids }) => requirement_ids)))
    return { ...NO_LEASES, leases }
  }
