import type { Offer } from '@windlass/proto/windlass/executions/v1/executions'
import type { Db } from '@windlass/runtime/postgres/db'
import { isLockTimeout } from '@windlass/runtime/postgres/outage'
import type { Execution, Limits } from '../domain/execution.ts'
import type { NewExecution } from '../store/executions.ts'
import * as unlocked from '../store/optimistic-write.ts'
import type { ExecutionCommand } from './command.ts'
import { newRow } from './decision-input.ts'
import { type BatchResult, decideGroup } from './optimistic.ts'
import type { CommittedChange } from './pessimistic.ts'
import type { Reservation, WaitingDispatchers } from './waiters.ts'

interface CreateDeps {
  db: Db
  limits: Limits
  waiters: WaitingDispatchers
}

/**
 * Makes new executions, and leases those that somebody waits for in the same commit. One that is
 * there already has no result here: that takes a look at its row.
 */
export async function createExecutions(
  creating: CreateDeps,
  changes: readonly ExecutionCommand[],
): Promise<BatchResult> {
  const first = new Map<string, NewExecutionEntry>()
  for (const change of changes) {
    const { execution_id, command } = change
    if (command.kind === 'create' && !first.has(execution_id))
      first.set(execution_id, { change, row: command.row, fresh: newRow(command.row) })
  }
  const all = [...first.values()]
  const reserved = creating.waiters.reserve(all.map(({ fresh }) => fresh))
  try {
    return await insertAndLease(creating, all, reserved)
  } catch (error) {
    reserved.settle([])
    if (reserved.offers.size === 0 || !isLockTimeout(error)) throw error
    // Who is to have it may wait; that it is made may not.
    creating.waiters.pauseReservations()
    return insertAndLease(creating, all, NO_RESERVATION)
  }
}

interface NewExecutionEntry {
  change: ExecutionCommand
  row: NewExecution
  fresh: Execution
}

const NO_RESERVATION: Reservation = { offers: new Map(), settle: () => {} }

async function insertAndLease(
  creating: CreateDeps,
  all: readonly NewExecutionEntry[],
  reserved: Reservation,
): Promise<BatchResult> {
  const leases = all.flatMap(({ fresh }) => leaseOf(creating, reserved, fresh))
  const { made, written } = await unlocked.insertWithLeases(
    creating.db,
    all.map(({ row }) => row).sort(byId),
    leases,
  )
  const leased = new Map(
    leases.flatMap((lease) =>
      written.has(lease.next.execution_id) ? [[lease.next.execution_id, lease]] : [],
    ),
  )
  const done = all.filter(({ row }) => made.has(row.execution_id))
  return {
    results: new Map(
      done.map(({ change, fresh }) => [change, { execution: fresh, changed: true }]),
    ),
    committed: done.map(({ fresh }): CommittedChange => {
      const { next = fresh, entries = [] } = leased.get(fresh.execution_id) ?? {}
      return { before: undefined, after: next, entries: [...entries] }
    }),
    onRecorded: () => reserved.settle([...leased.values()].map(({ next }) => next)),
  }
}

/** The lease of a row that is about to be made, if somebody waits for it. */
function leaseOf(
  { limits }: CreateDeps,
  { offers }: Reservation,
  fresh: Execution,
): unlocked.ConditionalWrite[] {
  const { execution_id } = fresh
  const offer: Offer | undefined = offers.get(execution_id)
  if (!offer) return []
  const command = { kind: 'lease', offer, capacity: offer.capacity } as const
  const { write } = decideGroup({ row: fresh, known: [] }, [{ execution_id, command }], limits)
  return write ? [write] : []
}

/** In one order everywhere, so that no two flushes wait for one another. */
const byId = (a: NewExecution, b: NewExecution) => (a.execution_id < b.execution_id ? -1 : 1)
