import {
  isDeadlock,
  isLockTimeout,
  toOutageFault,
  toUnstorableFault,
} from '@windlass/runtime/postgres/outage'
import type { CommandResult } from './apply.ts'
import type { ExecutionCommand } from './command.ts'
import { type LockedRows, rowBusy } from './locked-rows.ts'
import type { BatchResult } from './optimistic.ts'
import type { CommittedChange } from './pessimistic.ts'

/** Of one command alone, where its neighbours were done. */
export interface UnexpectedFailure {
  error: unknown
}

/** One of the ways in which many commands are done at once. */
export type ApplyStrategy = (changes: readonly ExecutionCommand[]) => Promise<BatchResult>

export type Outcomes = Map<ExecutionCommand, CommandResult | UnexpectedFailure>

/** Does many commands at once so that one that cannot be done never fails its neighbours. */
export class FaultIsolatingBatch {
  readonly #lockedRows: LockedRows
  readonly #onCommit: (effects: readonly CommittedChange[]) => void

  /** `note` is told what each commit changed. */
  constructor(heldRows: LockedRows, note: (effects: readonly CommittedChange[]) => void) {
    this.#lockedRows = heldRows
    this.#onCommit = note
  }

  async run(way: ApplyStrategy, changes: readonly ExecutionCommand[]): Promise<Outcomes> {
    if (changes.length === 0) return new Map()
    try {
      const { results, committed, onRecorded } = await way(changes)
      this.#onCommit(committed)
      onRecorded?.()
      return results
    } catch (error) {
      if (isLockTimeout(error)) return this.#runWithoutLockedRows(way, changes)
      const [only, ...more] = changes
      const outage = toOutageFault(error)
      if (outage && !(isDeadlock(error) && more.length > 0))
        return new Map(changes.map((change) => [change, { fault: outage }]))
      if (only && more.length === 0) return new Map([[only, refusal(error)]])
      return this.#oneByOne(way, changes)
    }
  }

  /** What waited too long for a row that somebody has locked is done without it. */
  async #runWithoutLockedRows(
    way: ApplyStrategy,
    changes: readonly ExecutionCommand[],
  ): Promise<Outcomes> {
    const held = await this.#lockedRows.findLocked(changes.map(({ execution_id }) => execution_id))
    // Held by nobody any more: all may come again.
    const isRefused = ({ execution_id }: ExecutionCommand) =>
      held.size === 0 || held.has(execution_id)
    const outcomes = await this.run(
      way,
      changes.filter((change) => !isRefused(change)),
    )
    for (const change of changes.filter(isRefused)) outcomes.set(change, { fault: rowBusy() })
    return outcomes
  }

  /** What the database refused together is tried one by one; one alone waits in no circle. */
  async #oneByOne(way: ApplyStrategy, changes: readonly ExecutionCommand[]): Promise<Outcomes> {
    const outcomes: Outcomes = new Map()
    for (const change of changes)
      for (const [done, outcome] of await this.run(way, [change])) outcomes.set(done, outcome)
    return outcomes
  }
}

function refusal(error: unknown): CommandResult | UnexpectedFailure {
  const fault = toUnstorableFault(error)
  return fault ? { fault } : { error }
}
