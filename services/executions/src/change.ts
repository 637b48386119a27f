import type { Db } from '@windlass/runtime/db'
import { Gather } from '@windlass/runtime/gather'
import { outageOf, unstorable } from '@windlass/runtime/outage'
import { alone } from './alone.ts'
import type { Change } from './command.ts'
import type { Execution, Limits } from './domain/execution.ts'
import type { Result } from './draught.ts'
import { type Effect, type Flushed, flush } from './flush.ts'
import { RecentLogs } from './recent-logs.ts'

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

/** Flushes that run side by side, on disjoint executions: two commands for one never meet in two of them. */
const LANES = 4

/** The only way an execution changes. Commands that come while a flush is under way go with the next. */
export function openDoor({ db, limits, announce }: DoorOptions): Door {
  const recent = new RecentLogs()

  /** A command that came alone is spared the transaction, unless another change comes between. */
  async function write(changes: Change[]): Promise<Flushed> {
    const [first] = changes
    const flushed = first && changes.length === 1 ? await alone(db, first, limits) : undefined
    return flushed ?? flush(db, changes, limits)
  }

  async function commit(changes: Change[]): Promise<(Result | Failed)[]> {
    try {
      const { results, effects } = await write(changes)
      recent.note(effects)
      announce(effects)
      return results
    } catch (error) {
      const outage = outageOf(error)
      if (outage) return changes.map(() => ({ fault: outage }))
      return changes.length > 1 ? oneByOne(changes) : [refusal(error)]
    }
  }

  /** One bad row never fails its neighbours: what the database refused together is tried one by one. */
  async function oneByOne(changes: Change[]): Promise<(Result | Failed)[]> {
    const results: (Result | Failed)[] = []
    for (const change of changes)
      results.push(...(await commit([change]).catch((error) => [{ error }])))
    return results
  }

  const lanes = Array.from({ length: LANES }, () => new Gather<Change, Result | Failed>(commit))
  const submit = async (change: Change) => {
    const result = await (lanes[laneOf(change)] as Gather<Change, Result | Failed>).add(change)
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
    drained: async () => void (await Promise.all(lanes.map((lane) => lane.drained()))),
  }
}

const laneOf = ({ execution_id }: Change) => Number.parseInt(execution_id.slice(-2), 16) % LANES

function refusal(error: unknown): Result {
  const fault = unstorable(error)
  if (!fault) throw error
  return { fault }
}

export type { Effect, Flushed }
