import type { Db } from '@windlass/runtime/postgres/db'
import { isLockTimeout } from '@windlass/runtime/postgres/outage'
import type { Execution, Limits } from '../domain/execution.ts'
import type { NewExecution } from '../store/executions.ts'
import * as store from '../store/optimistic-write.ts'
import type { BatchResult, CommittedChange } from './batch.ts'
import type { CommandBatch, ExecutionCommand } from './command.ts'
import { newRow } from './decision-input.ts'
import { decideGroup } from './optimistic.ts'
import type { Reservation, WaitingDispatchers } from './waiters.ts'

interface CreateDeps {
  db: Db
  limits: Limits
  waiters: WaitingDispatchers
}

/**
 * Creates executions, and leases those for which a dispatcher waits in the same commit. An id that already
 * exists gets no result here: the pessimistic path reads its row and compares the requests.
 */
export async function createExecutions(
  deps: CreateDeps,
  commands: CommandBatch,
): Promise<BatchResult> {
  const first = new Map<string, NewExecutionEntry>()
  for (const one of commands) {
    const { execution_id, command } = one
    if (command.kind === 'create' && !first.has(execution_id))
      first.set(execution_id, { command: one, row: command.row, inserted: newRow(command.row) })
  }
  const entries = [...first.values()]
  const reserved = deps.waiters.reserve(entries.map(({ inserted }) => inserted))
  try {
    return await insertAndLease(deps, entries, reserved)
  } catch (error) {
    reserved.settle([])
    if (reserved.offers.size === 0 || !isLockTimeout(error)) throw error
    // A hung process holds the lock of a worker: a lease may wait for it, but a new execution must not.
    deps.waiters.pauseReservations()
    return insertAndLease(deps, entries, NO_RESERVATION)
  }
}

interface NewExecutionEntry {
  command: ExecutionCommand
  row: NewExecution
  /** The row right after the insert. */
  inserted: Execution
}

const NO_RESERVATION: Reservation = { offers: new Map(), settle: () => {} }

async function insertAndLease(
  deps: CreateDeps,
  entries: readonly NewExecutionEntry[],
  reserved: Reservation,
): Promise<BatchResult> {
  const leases = entries.flatMap(({ inserted }) => leaseOf(deps.limits, reserved, inserted))
  const rows = entries.map(({ row }) => row).sort(byId)
  const { created, written } = await store.insertWithLeases(deps.db, rows, leases)
  const leased = new Map(
    leases.flatMap((lease) =>
      written.has(lease.next.execution_id) ? [[lease.next.execution_id, lease]] : [],
    ),
  )
  const done = entries.filter(({ row }) => created.has(row.execution_id))
  return {
    results: new Map(
      done.map(({ command, inserted }) => [command, { execution: inserted, changed: true }]),
    ),
    committed: done.map(({ inserted }): CommittedChange => {
      const { next = inserted, entries = [] } = leased.get(inserted.execution_id) ?? {}
      return { before: undefined, after: next, entries: [...entries] }
    }),
    onRecorded: () => reserved.settle([...leased.values()].map(({ next }) => next)),
  }
}

/** Returns the lease of a new row, if a dispatcher waits for it. */
function leaseOf(limits: Limits, { offers }: Reservation, row: Execution) {
  const { execution_id } = row
  const offer = offers.get(execution_id)
  if (!offer) return []
  const command = { kind: 'lease', offer, capacity: offer.capacity } as const
  const { write } = decideGroup({ row, known: [] }, [{ execution_id, command }], limits)
  return write ? [write] : []
}

/** The same order everywhere, so that two batches never wait for each other. */
const byId = (a: NewExecution, b: NewExecution) => (a.execution_id < b.execution_id ? -1 : 1)
