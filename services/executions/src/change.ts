import { Batcher } from '@windlass/runtime/batcher'
import type { Db } from '@windlass/runtime/postgres/db'
import { Apart, type Failed, type Way } from './apart.ts'
import { BeingMade } from './being-made.ts'
import type { Change } from './command.ts'
import { createNew } from './create.ts'
import type { Execution, Limits } from './domain/execution.ts'
import type { Result } from './draught.ts'
import { type Effect, flush } from './flush.ts'
import { comeAgain, HeldRows } from './held-rows.ts'
import { RecentLogs } from './recent-logs.ts'
import { RecentRows } from './recent-rows.ts'
import type { Standing } from './standing.ts'
import { changeUnlocked } from './unlocked.ts'

export type { Result } from './draught.ts'

export interface Door {
  /** Applies the command and answers after its commit. Rejects only if nobody can say what happened. */
  submit(change: Change): Promise<Result>
  /** The same, for callers that have nothing to do but pass the refusal on. */
  change(change: Change): Promise<Execution>
  drained(): Promise<void>
  /** Logs that need not be read. */
  readonly recent: RecentLogs
}

export interface DoorOptions {
  db: Db
  limits: Limits
  /** Who waits for work. */
  standing: Standing
  /** Told after each commit what it changed. */
  announce(effects: readonly Effect[]): void
}

/** The only way an execution changes. Commands that come while a flush is under way go with the next. */
export function openDoor({ db, limits, standing, announce }: DoorOptions): Door {
  const recent = new RecentLogs()
  const heldRows = new HeldRows(db)
  const memory = { rows: new RecentRows(), logs: recent }

  const locked: Way = async (changes) => {
    const { results, effects } = await flush(db, changes, limits)
    return { results: new Map(changes.map((change, i) => [change, results[i] as Result])), effects }
  }
  const apart = new Apart(heldRows, (effects) => {
    memory.logs.note(effects)
    memory.rows.note(effects)
    announce(effects)
  })

  /** Without locks what can be; with them the rest, and what another change came between. */
  const lane = (quick: Way) =>
    new Batcher<Change, Result | Failed>(async (changes) => {
      const done = await apart.go(quick, changes)
      const rest = changes.filter((change) => !done.has(change))
      const late = await apart.go(locked, rest)
      return changes.map((change) => (done.get(change) ?? late.get(change)) as Result | Failed)
    })
  const quick: Way = (changes) => changeUnlocked({ db, memory, limits }, changes)
  const creates = lane((changes) => createNew({ db, limits, standing }, changes))
  const leases = lane(quick)
  const others = lane(quick)
  const beingMade = new BeingMade()
  const alter = async (change: Change) => {
    const made = beingMade.of(change.execution_id)
    if (made) await made
    const { execution_id } = change
    if (heldRows.mayHave(execution_id) && (await heldRows.among([execution_id])).size > 0)
      return { fault: comeAgain() }
    return (change.command.kind === 'lease' ? leases : others).add(change)
  }
  const submit = async (change: Change) => {
    const result = await (change.command.kind === 'create'
      ? beingMade.note(change.execution_id, creates.add(change))
      : alter(change))
    if ('error' in result) throw result.error
    return result
  }
  return {
    submit,
    recent,
    async change(change) {
      const result = await submit(change)
      if ('fault' in result) throw result.fault
      return result.execution
    },
    drained: async () =>
      void (await Promise.all([creates, leases, others].map((gather) => gather.whenIdle()))),
  }
}

export type { Effect }
