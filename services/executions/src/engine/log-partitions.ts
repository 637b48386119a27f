/**
 * Partitions of the log by time, which are dropped instead of deleting their rows. Captured lines are in
 * partitions of their own with the same numbers, which are created, dropped and emptied with those of the log.
 *
 * Problem
 *
 * Deleting a log costs about as much as writing it, and its space is free only after a vacuum. Dropping a
 * partition costs nothing. But executions live for any time, have ages of their own, and ids that are derived
 * from a schedule or a parent say nothing about time.
 *
 * Protocol
 *
 *   - Partitions are numbered, and the row of an execution names the one of its log (`log_part`), chosen when
 *     it is created: the one that is used then. So neither its id nor its age matters.
 *   - Partition 0 is never dropped. It has the logs from before, those of workflows with an age of their
 *     own, of restored executions, and whatever replicas of earlier releases write. Rows are deleted there.
 *   - When a partition is first used, the next one is created: there is always one ahead, a whole length in
 *     time. Any replica does; if all fail the last one is used for longer.
 *   - A replica chooses by a list that it has read less than CHOICE_MS ago, else partition 0.
 *   - Retention deletes rows of executions as always, but not their entries in a partition that the next one
 *     has followed. When no execution has its log there, the partition is dropped. If some are left once the age
 *     and the length of a partition have passed, because they live or are kept for longer, their entries move to
 *     partition 0 first.
 *
 * Guarantees
 *
 *   - An execution that exists is never in a partition that is dropped: that is checked under a lock that
 *     excludes writers. An insert of captured lines locks its execution (store/line-rows.ts), so their partition has no writer then.
 *   - What a deleted execution left behind is not read: reads name the partition of the row (store/log.ts). An id that is
 *     used again gets the partition of its new creation, so its numbers are free.
 *   - Locks: 100 ms at most are waited for, and nothing is read while they are held but an index.
 *
 * Rejected
 *
 *   - Ranges of ids. Derived ids lie in all ranges, so each new partition must prove, by reading the default
 *     one under its lock, that it takes no row of it.
 */
import type { Db } from '@windlass/runtime/postgres/db'
import { isLockTimeout } from '@windlass/runtime/postgres/outage'
import { type RetentionRules, retentionDaysOf, type WorkflowName } from '../domain/sweep-plan.ts'
import * as store from '../store/partition-rows.ts'

/** Shorter ages leave little to drop. */
const MIN_DAYS = 1
const DAY_S = 86_400
/** Less than the margin around the time of a partition in which its executions are searched. */
const CHOICE_MS = 60_000
/** Many times the pause of the loop that reads the list. */
const NOTICE_S = 300

export interface PartitionRules extends RetentionRules {
  /** Partitions over the general age; 0: none. */
  log_partitions: number
}

/** Length of a partition in days; undefined: the log has none but the first. */
export const partitionDays = ({ log_partitions, retention_days }: PartitionRules) =>
  log_partitions > 0 && retention_days >= MIN_DAYS ? retention_days / log_partitions : undefined

/** True if the logs of a workflow are dropped with their partitions: it has the general age. */
const isPartitioned = (rules: PartitionRules, workflow: WorkflowName) =>
  partitionDays(rules) !== undefined && retentionDaysOf(rules, workflow) === rules.retention_days

interface PartitionsDeps {
  db: Db
  rules: PartitionRules
  /** Monotonic clock in milliseconds. */
  nowMs?: () => number
}

/** The partitions as this replica knows them. */
export class LogPartitions {
  readonly #deps: Required<PartitionsDeps>
  #known: store.LogPartition[] = []
  #readAtMs = -Infinity

  constructor({ nowMs = () => performance.now(), ...deps }: PartitionsDeps) {
    this.#deps = { ...deps, nowMs }
  }

  /** Number of partitions after the first. */
  get count(): number {
    return this.#known.length
  }

  /** Partition for the log of a new execution. */
  partOf(workflow: WorkflowName): number {
    const { rules, nowMs } = this.#deps
    const passedMs = nowMs() - this.#readAtMs
    if (passedMs > CHOICE_MS || !isPartitioned(rules, workflow)) return 0
    return this.#known.findLast(({ starts_in_ms }) => starts_in_ms <= passedMs)?.part ?? 0
  }

  /** Reads the list, and creates the next partition when the last one is in use. */
  async refresh(): Promise<void> {
    const { db, rules } = this.#deps
    await this.#read()
    const days = partitionDays(rules)
    const last = this.#known.at(-1)
    if (days === undefined || (last && last.starts_in_ms > 0)) return
    try {
      await store.create(db, { length_s: days * DAY_S, notice_s: NOTICE_S })
    } catch (error) {
      if (!isLockTimeout(error)) throw error
    }
    await this.#read()
  }

  async #read(): Promise<void> {
    const { db, nowMs } = this.#deps
    const readAtMs = nowMs()
    this.#known = await store.list(db)
    this.#readAtMs = readAtMs
  }
}
