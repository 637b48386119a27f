import {
  isDeadlock,
  isLockTimeout,
  toOutageFault,
  toUnstorableFault,
} from '@windlass/runtime/postgres/outage'
import type { Change } from './command.ts'
import type { Result } from './draught.ts'
import type { Effect } from './flush.ts'
import { comeAgain, type HeldRows } from './held-rows.ts'
import type { Done } from './unlocked.ts'

/** Of one command alone, where its neighbours were done. */
export interface Failed {
  error: unknown
}

/** One of the ways in which many commands are done at once. */
export type Way = (changes: readonly Change[]) => Promise<Done>

export type Outcomes = Map<Change, Result | Failed>

/** Does many commands at once so that one that cannot be done never fails its neighbours. */
export class Apart {
  readonly #heldRows: HeldRows
  readonly #note: (effects: readonly Effect[]) => void

  /** `note` is told what each commit changed. */
  constructor(heldRows: HeldRows, note: (effects: readonly Effect[]) => void) {
    this.#heldRows = heldRows
    this.#note = note
  }

  async go(way: Way, changes: readonly Change[]): Promise<Outcomes> {
    if (changes.length === 0) return new Map()
    try {
      const { results, effects, noted } = await way(changes)
      this.#note(effects)
      noted?.()
      return results
    } catch (error) {
      if (isLockTimeout(error)) return this.#withoutHeld(way, changes)
      const [only, ...more] = changes
      const outage = toOutageFault(error)
      if (outage && !(isDeadlock(error) && more.length > 0))
        return new Map(changes.map((change) => [change, { fault: outage }]))
      if (only && more.length === 0) return new Map([[only, refusal(error)]])
      return this.#oneByOne(way, changes)
    }
  }

  /** What waited too long for a row that somebody has locked is done without it. */
  async #withoutHeld(way: Way, changes: readonly Change[]): Promise<Outcomes> {
    const held = await this.#heldRows.among(changes.map(({ execution_id }) => execution_id))
    // Held by nobody any more: all may come again.
    const isRefused = ({ execution_id }: Change) => held.size === 0 || held.has(execution_id)
    const outcomes = await this.go(
      way,
      changes.filter((change) => !isRefused(change)),
    )
    for (const change of changes.filter(isRefused)) outcomes.set(change, { fault: comeAgain() })
    return outcomes
  }

  /** What the database refused together is tried one by one; one alone waits in no circle. */
  async #oneByOne(way: Way, changes: readonly Change[]): Promise<Outcomes> {
    const outcomes: Outcomes = new Map()
    for (const change of changes)
      for (const [done, outcome] of await this.go(way, [change])) outcomes.set(done, outcome)
    return outcomes
  }
}

function refusal(error: unknown): Result | Failed {
  const fault = toUnstorableFault(error)
  return fault ? { fault } : { error }
}
