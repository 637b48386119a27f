import { Batcher } from '@windlass/runtime/batcher'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution, Limits } from '../domain/execution.ts'
import type { CommandResult } from './apply.ts'
import { type ApplyStrategy, FaultIsolatingBatch, type UnexpectedFailure } from './batch.ts'
import { LogCache } from './cache/logs.ts'
import { RowCache } from './cache/rows.ts'
import type { ExecutionCommand } from './command.ts'
import { createExecutions } from './create.ts'
import { LockedRows, rowBusy } from './locked-rows.ts'
import { applyOptimistically } from './optimistic.ts'
import { PendingCreates } from './pending-creates.ts'
import { applyUnderLocks, type CommittedChange } from './pessimistic.ts'
import type { WaitingDispatchers } from './waiters.ts'

export interface ExecutionWriter {
  /** Applies the command and answers after its commit. Rejects only if nobody can say what happened. */
  submit(command: ExecutionCommand): Promise<CommandResult>
  /** The same, for callers that have nothing to do but pass the refusal on. */
  submitOrThrow(command: ExecutionCommand): Promise<Execution>
  whenIdle(): Promise<void>
  /** Logs that need not be read. */
  readonly logs: LogCache
}

export interface ExecutionWriterOptions {
  db: Db
  limits: Limits
  /** Who waits for work. */
  waiters: WaitingDispatchers
  /** Told after each commit what it changed. */
  onCommit(effects: readonly CommittedChange[]): void
}

/** The only way an execution changes. Commands that come while a flush is under way go with the next. */
export function createExecutionWriter({
  db,
  limits,
  waiters,
  onCommit,
}: ExecutionWriterOptions): ExecutionWriter {
  const recent = new LogCache()
  const heldRows = new LockedRows(db)
  const memory = { rows: new RowCache(), logs: recent }

  const locked: ApplyStrategy = async (changes) => {
    const { results, committed } = await applyUnderLocks(db, changes, limits)
    return {
      results: new Map(changes.map((change, i) => [change, results[i] as CommandResult])),
      committed: committed,
    }
  }
  const apart = new FaultIsolatingBatch(heldRows, (effects) => {
    memory.logs.record(effects)
    memory.rows.record(effects)
    onCommit(effects)
  })

  /** Without locks what can be; with them the rest, and what another change came between. */
  const lane = (quick: ApplyStrategy) =>
    new Batcher<ExecutionCommand, CommandResult | UnexpectedFailure>(async (changes) => {
      const done = await apart.run(quick, changes)
      const rest = changes.filter((change) => !done.has(change))
      const late = await apart.run(locked, rest)
      return changes.map(
        (change) => (done.get(change) ?? late.get(change)) as CommandResult | UnexpectedFailure,
      )
    })
  const quick: ApplyStrategy = (changes) =>
    applyOptimistically({ db, caches: memory, limits }, changes)
  const creates = lane((changes) => createExecutions({ db, limits, waiters }, changes))
  const leases = lane(quick)
  const others = lane(quick)
  const beingMade = new PendingCreates()
  const alter = async (change: ExecutionCommand) => {
    const made = beingMade.find(change.execution_id)
    if (made) await made
    const { execution_id } = change
    if (heldRows.mayBeLocked(execution_id) && (await heldRows.findLocked([execution_id])).size > 0)
      return { fault: rowBusy() }
    return (change.command.kind === 'lease' ? leases : others).add(change)
  }
  const submit = async (change: ExecutionCommand) => {
    const result = await (change.command.kind === 'create'
      ? beingMade.track(change.execution_id, creates.add(change))
      : alter(change))
    if ('error' in result) throw result.error
    return result
  }
  return {
    submit,
    logs: recent,
    async submitOrThrow(command) {
      const result = await submit(command)
      if ('fault' in result) throw result.fault
      return result.execution
    },
    whenIdle: async () =>
      void (await Promise.all([creates, leases, others].map((gather) => gather.whenIdle()))),
  }
}
