import type { Db } from '@windlass/runtime/db'
import { Gather } from '@windlass/runtime/gather'
import { outageOf, unstorable } from '@windlass/runtime/outage'
import { BeingMade } from './being-made.ts'
import type { Change } from './command.ts'
import { createNew } from './create.ts'
import type { Execution, Limits } from './domain/execution.ts'
import type { Result } from './draught.ts'
import { type Effect, flush } from './flush.ts'
import { RecentLogs } from './recent-logs.ts'
import { RecentRows } from './recent-rows.ts'
import { changeUnlocked, type Done } from './unlocked.ts'

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

/** Of one command alone, where its neighbours were done. */
interface Failed {
  error: unknown
}

export interface DoorOptions {
  db: Db
  limits: Limits
  /** Told after each commit what it changed. */
  announce(effects: readonly Effect[]): void
}

/** The only way an execution changes. Commands that come while a flush is under way go with the next. */
export function openDoor({ db, limits, announce }: DoorOptions): Door {
  const recent = new RecentLogs()
  const memory = { rows: new RecentRows(), logs: recent }

  type Way = (changes: readonly Change[]) => Promise<Done>
  const locked: Way = async (changes) => {
    const { results, effects } = await flush(db, changes, limits)
    return { results: new Map(changes.map((change, i) => [change, results[i] as Result])), effects }
  }

  async function go(way: Way, changes: readonly Change[]): Promise<Map<Change, Result | Failed>> {
    if (changes.length === 0) return new Map()
    try {
      const { results, effects } = await way(changes)
      memory.logs.note(effects)
      memory.rows.note(effects)
      announce(effects)
      return results
    } catch (error) {
      const outage = outageOf(error)
      if (outage) return new Map(changes.map((change) => [change, { fault: outage }]))
      const [only, ...more] = changes
      if (only && more.length === 0) return new Map([[only, refusal(error)]])
      return oneByOne(way, changes)
    }
  }

  /** One bad row never fails its neighbours: what the database refused together is tried one by one. */
  async function oneByOne(way: Way, changes: readonly Change[]) {
    const results = new Map<Change, Result | Failed>()
    for (const change of changes)
      for (const [done, result] of await go(way, [change])) results.set(done, result)
    return results
  }

  /** Without locks what can be; with them the rest, and what another change came between. */
  const lane = (quick: Way) =>
    new Gather<Change, Result | Failed>(async (changes) => {
      const done = await go(quick, changes)
      const rest = changes.filter((change) => !done.has(change))
      const late = await go(locked, rest)
      return changes.map((change) => (done.get(change) ?? late.get(change)) as Result | Failed)
    })
  const quick: Way = (changes) => changeUnlocked({ db, memory, limits }, changes)
  const creates = lane((changes) => createNew(db, changes))
  const leases = lane(quick)
  const others = lane(quick)
  const beingMade = new BeingMade()
  const alter = async (change: Change) => {
    const made = beingMade.of(change.execution_id)
    if (made) await made
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
      void (await Promise.all([creates, leases, others].map((gather) => gather.drained()))),
  }
}

function refusal(error: unknown): Result | Failed {
  const fault = unstorable(error)
  return fault ? { fault } : { error }
}

export type { Effect }
