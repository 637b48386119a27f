import {
  isDeadlock,
  isLockTimeout,
  toOutageFault,
  toUnstorableFault,
} from '@windlass/runtime/postgres/outage'
import type { Execution } from '../domain/execution.ts'
import type { StoredEntry } from '../store/log.ts'
import type { CommandResult } from './apply.ts'
import type { CommandBatch, ExecutionCommand } from './command.ts'
import { lockedIdsOf } from './decision-input.ts'
import { type LockedRows, rowBusy } from './locked-rows.ts'

/** One execution that a commit changed. */
export interface CommittedChange {
  /** Absent: the row is new. */
  before: Execution | undefined
  after: Execution
  /** Entries that were appended to its log. */
  entries: StoredEntry[]
  /** Sender of all commands that made the change, if they have the same one. */
  sender?: string | undefined
}

export interface BatchResult {
  /** A command without a result was not applied here; the pessimistic path applies it. */
  results: Map<ExecutionCommand, CommandResult>
  committed: CommittedChange[]
  /** Called when the committed changes have been recorded and announced. */
  onRecorded?(): void
}

/** A way to apply a batch: optimistic, pessimistic, or the creation of executions. */
export type ApplyStrategy = (commands: CommandBatch) => Promise<BatchResult>

/** An error that does not reveal the command's outcome; its neighbours are not affected. */
export interface UnexpectedFailure {
  error: unknown
}

type Results = Map<ExecutionCommand, CommandResult | UnexpectedFailure>

/** Applies a batch so that a command that cannot be applied never fails its neighbours. */
export class FaultIsolatingBatch {
  readonly #lockedRows: LockedRows
  readonly #onCommit: (committed: readonly CommittedChange[]) => void

  constructor(lockedRows: LockedRows, onCommit: (committed: readonly CommittedChange[]) => void) {
    this.#lockedRows = lockedRows
    this.#onCommit = onCommit
  }

  /** Applies the commands and announces the commits. A command that was not applied has no result. */
  async run(apply: ApplyStrategy, commands: CommandBatch): Promise<Results> {
    if (commands.length === 0) return new Map()
    try {
      const { results, committed, onRecorded } = await apply(commands)
      this.#onCommit(committed)
      onRecorded?.()
      return results
    } catch (error) {
      if (isLockTimeout(error)) return this.#runWithoutLockedRows(apply, commands)
      const [only, ...more] = commands
      const outage = toOutageFault(error)
      if (outage && !(isDeadlock(error) && more.length > 0))
        return new Map(commands.map((command) => [command, { fault: outage }]))
      if (only && more.length === 0) return new Map([[only, toResult(error)]])
      return this.#runOneByOne(apply, commands)
    }
  }

  /** Answers `unavailable` for the commands whose rows are locked, and applies the others. */
  async #runWithoutLockedRows(apply: ApplyStrategy, commands: CommandBatch): Promise<Results> {
    const locked = await this.#lockedRows.findLocked(lockedIdsOf(commands))
    // The lock has been released, so it is unknown which row it was: all callers retry.
    const isBusy = (command: ExecutionCommand) =>
      locked.size === 0 || lockedIdsOf([command]).some((id) => locked.has(id))
    const free = commands.filter((command) => !isBusy(command))
    const results = await this.run(apply, free)
    for (const command of commands.filter(isBusy)) results.set(command, { fault: rowBusy() })
    return results
  }

  /** Applies each command alone: a rejected row then fails alone, and a single command cannot deadlock. */
  async #runOneByOne(apply: ApplyStrategy, commands: CommandBatch): Promise<Results> {
    const results: Results = new Map()
    for (const command of commands)
      for (const [one, result] of await this.run(apply, [command])) results.set(one, result)
    return results
  }
}

function toResult(error: unknown): CommandResult | UnexpectedFailure {
  const fault = toUnstorableFault(error)
  return fault ? { fault } : { error }
}
