import type { ExecutionTokens } from '@windlass/domain/execution-tokens'
import type {
  AwaitWorkRequest,
  LeaseResponse,
} from '@windlass/proto/windlass/executions/v1/executions'
import type { Call } from '@windlass/rpc/call'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Door } from '../change.ts'
import type { Execution } from '../domain/execution.ts'
import type { Standing } from '../standing.ts'
import { describe, leaseAll } from './lease.ts'

const MAX_WAIT_MS = 5_000

interface Awaiting {
  db: Db
  door: Door
  standing: Standing
  tokens: ExecutionTokens
  /** There is work that somebody else must take. */
  ready(requirement_ids: Iterable<string>): void
}

/** Gives work in the moment it is queued. What could not be given after all is told to everyone. */
export const awaiter =
  ({ db, door, standing, tokens, ready }: Awaiting) =>
  async (
    { offers, wait_ms }: AwaitWorkRequest,
    { signal, answerNow }: Call,
  ): Promise<LeaseResponse> => {
    const ms = Math.min(wait_ms, MAX_WAIT_MS)
    const { assignments, leased: made } = await standing.wait(offers, ms, [signal, answerNow])
    if (assignments.length + made.length === 0) return NOTHING
    const taken = await leaseAll(door, offers, assignments)
    const leased = [...made, ...taken]
    const kept = signal.aborted ? await handBack(door, leased) : leased
    if (taken.length < assignments.length)
      ready(new Set(offers.flatMap(({ requirement_ids }) => requirement_ids)))
    return { ...NOTHING, leases: await describe(db, door.recent, { tokens, leased: kept }) }
  }

const NOTHING: LeaseResponse = { leases: [], loads: [], more: false }

/** The dispatcher left meanwhile: nobody would bring it to its worker. */
async function handBack(door: Door, leased: readonly Execution[]): Promise<Execution[]> {
  await Promise.all(
    leased.map(({ execution_id, held_by = '', held_connection = 0 }) =>
      door.submit({
        execution_id,
        command: { kind: 'lose', held_by, upToConnection: held_connection, loss: 'released' },
      }),
    ),
  )
  return []
}
