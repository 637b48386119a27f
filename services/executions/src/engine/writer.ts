/**
 * The execution writer: the only component that changes executions.
 *
 * Problem
 *
 * An execution changes at least four times (create, lease, claim, final checkpoint), and every
 * change writes its row, its log and the totals, which must agree. Commands for one execution come
 * from clients, workers, dispatchers and the deadline sweeper, at every replica and at the same
 * time, and each command may be sent again because its answer was lost. The result must be one order
 * of changes, the same in the row and the log, with few commits: a commit costs about 0.16 CPU-ms alone
 * and a fifth of that per command in a batch (ADR 3), and 0.7 ms of latency.
 *
 * Protocol
 *
 *   submit(command)
 *      |  a create of the same id is in flight: wait for it             (pending-creates.ts)
 *      |  the row is locked by a hung process: answer `unavailable`     (locked-rows.ts)
 *      v
 *   batcher: one each for creates, forks, leases and all other commands; one batch in flight each
 *      |
 *      v  FaultIsolatingBatch.run(strategy, commands)                   (batch.ts)
 *   +- optimistic ------------------+              +- pessimistic ---------------------+
 *   | row from the cache, else      |  conflicts,  | lock rows in the order of ids     |
 *   | read without a lock           |  gated rows, | read rows, known events,          |
 *   | decide                        |  other kinds |   deadlines, loads, approvals     |
 *   | one statement: each row if    | -----------> | decide                            |
 *   |   its revision is unchanged,  |              | write rows, log, totals,          |
 *   |   its log entries, totals     |              |   approvals; commit               |
 *   +---------------+---------------+              +-----------------+-----------------+
 *                   |                                                |
 *                   +------> committed changes <---------------------+
 *                            log cache, row cache, onCommit (wake-ups), then the answers
 *
 * Items that arrive while a batch is in flight form the next one. A single item is never delayed; under
 * load the next batch starts as long after the one before as that one took, at most MAX_SPACING_MS, because
 * many small ones cost more processor time (ADR 3). Creates
 * have an optimistic path of their own, which inserts the rows and leases those that a dispatcher
 * waits for in the same commit (create.ts, ADR 13); a create whose id exists is left to the
 * pessimistic path, which reads the row and compares the requests. Forks, which copy a log, take the
 * pessimistic path only. Leases have a batcher of their own because they wait for the advisory locks of
 * workers, and a checkpoint must not wait behind one.
 *
 * Both paths have one type, ApplyStrategy, one decision function, applyCommand, and one entry,
 * FaultIsolatingBatch.run. They are not folded into one: the pessimistic path is needed in any case,
 * for commands that read more than their row and its log (approvals), for deadlines, which count only
 * while the row is locked, and for repeated creates. It also ends a conflict in one attempt: a retry
 * without locks reads and writes again and may lose again while another process changes the row.
 *
 * What the database decides
 *
 *   which of two commands was first     `revision` of the row, or its lock
 *   whether a worker has a free slot    count of its rows under an advisory lock
 *   whether a deadline has passed       `clock_timestamp()`, in the statement that locks the row
 *   whether an event is new             lookup by execution, event id and type, at the row's revision
 *   the order of the log across rows    `xid` of the transaction (loops/relay.ts)
 *
 * The clock of this process only stamps `updated_at` and the `time` of the server's own events. Both
 * caches hold what this process committed. A stale row costs a conflict and one more round trip, so
 * nothing invalidates them; refusals and no-ops are never decided from the cache, because the cached
 * row may be outdated.
 *
 * Guarantees
 *
 *   - A result is answered after its commit, and built from the committed row (E8).
 *   - Row, log entries, totals and approvals of a command commit together or not at all.
 *   - Commands for one execution in one batch are applied in the order submitted, and end as they
 *     would in commits of their own (batch-equivalence.test.ts compares).
 *   - A command that the database rejects does not fail its neighbours; a row locked by a hung process
 *     delays them by one lock timeout once, then its own callers alone get `unavailable` (D5).
 *   - Every command is safe to repeat.
 *
 * Not guaranteed
 *
 *   - An order between executions, also in one batch.
 *   - Knowledge of the outcome when the connection is lost during a commit: the caller gets
 *     `unavailable` and repeats the command.
 *   - Delivery of wake-ups: onCommit is best effort, polls find the same facts.
 *
 * Measurements (2 virtual cores, bench/README.md)
 *
 *   2026-11-21  `bench -- engine`, CPU-ms per execution, locks only and unary calls against optimistic
 *               path and multiplexed calls (ADR 8, 9): 22.3 to 15.0 at 1 in flight, 5.6 to 3.3 at 64,
 *               2.6 to 1.8 at 256.
 *   2026-11-27  `bench -- turns` with a Python worker, CPU-ms of all processes per execution of
 *               hello-world: 10.7 at 1 in flight, 5.4 at 8, 2.0 at 32, 1.4 at 64. Of the 27 ms of one
 *               among 8, 7 are waits for a batch of this writer and 6 are its two commits.
 *
 * Rejected
 *
 *   - Locks for every command: two round trips and seven statements for each batch (ADR 8).
 *   - A timer that fills every batch: latency without load (ADR 3).
 *   - A cache shared by replicas or invalidated by messages: compare-and-set makes it unnecessary.
 *   - An outbox table: the log already has the facts (ADR 2).
 */
import { Batcher } from '@windlass/runtime/batcher'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Execution, Limits } from '../domain/execution.ts'
import type { CommandResult } from './apply.ts'
import {
  type ApplyStrategy,
  type CommittedChange,
  FaultIsolatingBatch,
  type UnexpectedFailure,
} from './batch.ts'
import { LogCache } from './cache/logs.ts'
import { RowCache } from './cache/rows.ts'
import type { CreateCommand, ExecutionCommand } from './command.ts'
import { createExecutions } from './create.ts'
import { lockedIdsOf } from './decision-input.ts'
import { LockedRows, rowBusy } from './locked-rows.ts'
import { ChangeMeter } from './measure-changes.ts'
import { measuredStrategy } from './measured-strategy.ts'
import { applyOptimistically } from './optimistic.ts'
import { PendingCreates } from './pending-creates.ts'
import { applyUnderLocks } from './pessimistic.ts'
import type { WaitingDispatchers } from './waiters.ts'

/** Maximum of milliseconds between batches under load: about the time of a commit on a busy machine. */
const MAX_SPACING_MS = 4

export interface ExecutionWriter {
  /** Applies the command and answers after its commit. Rejects only on an unexpected error. */
  submit(command: ExecutionCommand): Promise<CommandResult>
  /** Applies the command and answers the committed row. Throws the fault of a refused command. */
  submitOrThrow(command: ExecutionCommand): Promise<Execution>
  /** Resolves when no command is queued or in flight. */
  whenIdle(): Promise<void>
  /** Logs of recently committed executions, which readers then need not load. */
  readonly logs: LogCache
}

export interface ExecutionWriterOptions {
  db: Db
  limits: Limits
  /** Dispatchers to which new executions can be leased in the commit that creates them. */
  waiters: WaitingDispatchers
  /** Called after each commit, before its commands are answered. */
  onCommit(committed: readonly CommittedChange[]): void
}

/** Creates the execution writer of this process, with its batchers and caches. */
export function createExecutionWriter(options: ExecutionWriterOptions): ExecutionWriter {
  const { db, limits, waiters, onCommit } = options
  const caches = { rows: new RowCache(), logs: new LogCache() }
  const lockedRows = new LockedRows(db)
  const meter = new ChangeMeter()
  const batch = new FaultIsolatingBatch(lockedRows, (committed) => {
    meter.record(committed)
    caches.logs.record(committed)
    caches.rows.record(committed)
    onCommit(committed)
  })
  const optimistic = measuredStrategy('optimistic', (commands) =>
    applyOptimistically({ db, caches, limits }, commands),
  )
  const pessimistic = measuredStrategy('pessimistic', (commands) =>
    applyUnderLocks(db, commands, limits),
  )
  const create = measuredStrategy('create', (commands) =>
    createExecutions({ db, limits, waiters }, commands),
  )

  /** Batches commands; the pessimistic path applies those that `first` leaves over. */
  const createBatcher = (first: ApplyStrategy) =>
    new Batcher<ExecutionCommand, CommandResult | UnexpectedFailure>(
      async (commands) => {
        const results = await batch.run(first, commands)
        const left = commands.filter((command) => !results.has(command))
        for (const [command, result] of await batch.run(pessimistic, left))
          results.set(command, result)
        return commands.map((command) => results.get(command) as CommandResult | UnexpectedFailure)
      },
      { maxSpacingMs: MAX_SPACING_MS },
    )
  const creates = createBatcher(create)
  // A batcher of their own, because copying logs takes longer than other creates.
  const forks = createBatcher(pessimistic)
  const leases = createBatcher(optimistic)
  const others = createBatcher(optimistic)
  const batcherOf = ({ row }: CreateCommand) => (row.fork ? forks : creates)
  const all = [creates, forks, leases, others]
  const pendingCreates = new PendingCreates()

  const applyToExisting = async (command: ExecutionCommand) => {
    const { execution_id } = command
    const pending = pendingCreates.find(execution_id)
    if (pending) await pending
    const suspects = lockedIdsOf([command]).filter((id) => lockedRows.mayBeLocked(id))
    if (suspects.length > 0 && (await lockedRows.findLocked(suspects)).size > 0)
      return { fault: rowBusy() }
    return (command.command.kind === 'lease' ? leases : others).add(command)
  }
  const submit = async (command: ExecutionCommand) => {
    const result = await (command.command.kind === 'create'
      ? pendingCreates.track(command.execution_id, batcherOf(command.command).add(command))
      : applyToExisting(command))
    if ('error' in result) throw result.error
    return result
  }
  return {
    submit,
    logs: caches.logs,
    async submitOrThrow(command) {
      const result = await submit(command)
      if ('fault' in result) throw result.fault
      return result.execution
    },
    whenIdle: async () => void (await Promise.all(all.map((batcher) => batcher.whenIdle()))),
  }
}
