import type { Offer } from '@windlass/proto/windlass/executions/v1/executions'
import type { Db } from '@windlass/runtime/postgres/db'
import { isLockTimeout } from '@windlass/runtime/postgres/outage'
import type { Change } from './command.ts'
import type { Execution, Limits } from './domain/execution.ts'
import type { Effect } from './flush.ts'
import { freshRow } from './scene.ts'
import type { Reservation, Standing } from './standing.ts'
import type { NewExecution } from './store/executions.ts'
import * as unlocked from './store/unlocked.ts'
import { type Done, decide } from './unlocked.ts'

interface Creating {
  db: Db
  limits: Limits
  standing: Standing
}

/**
 * Makes new executions, and leases those that somebody waits for in the same commit. One that is
 * there already has no result here: that takes a look at its row.
 */
export async function createNew(creating: Creating, changes: readonly Change[]): Promise<Done> {
  const first = new Map<string, New>()
  for (const change of changes) {
    const { execution_id, command } = change
    if (command.kind === 'create' && !first.has(execution_id))
      first.set(execution_id, { change, row: command.row, fresh: freshRow(command.row) })
  }
  const all = [...first.values()]
  const reserved = creating.standing.reserve(all.map(({ fresh }) => fresh))
  try {
    return await make(creating, all, reserved)
  } catch (error) {
    reserved.give([])
    if (reserved.offers.size === 0 || !isLockTimeout(error)) throw error
    // Who is to have it may wait; that it is made may not.
    creating.standing.postpone()
    return make(creating, all, NOBODY)
  }
}

interface New {
  change: Change
  row: NewExecution
  fresh: Execution
}

const NOBODY: Reservation = { offers: new Map(), give: () => {} }

async function make(creating: Creating, all: readonly New[], reserved: Reservation): Promise<Done> {
  const leases = all.flatMap(({ fresh }) => leaseOf(creating, reserved, fresh))
  const { made, written } = await unlocked.insert(
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
    effects: done.map(({ fresh }): Effect => {
      const { next = fresh, entries = [] } = leased.get(fresh.execution_id) ?? {}
      return { before: undefined, after: next, entries: [...entries] }
    }),
    noted: () => reserved.give([...leased.values()].map(({ next }) => next)),
  }
}

/** The lease of a row that is about to be made, if somebody waits for it. */
function leaseOf(
  { limits }: Creating,
  { offers }: Reservation,
  fresh: Execution,
): unlocked.Write[] {
  const { execution_id } = fresh
  const offer: Offer | undefined = offers.get(execution_id)
  if (!offer) return []
  const command = { kind: 'lease', offer, capacity: offer.capacity } as const
  const { write } = decide({ row: fresh, known: [] }, [{ execution_id, command }], limits)
  return write ? [write] : []
}

/** In one order everywhere, so that no two flushes wait for one another. */
const byId = (a: NewExecution, b: NewExecution) => (a.execution_id < b.execution_id ? -1 : 1)
