import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from '@windlass/runtime/postgres/db'
import { isLockTimeout } from '@windlass/runtime/postgres/outage'
import type { Logger } from '@windlass/runtime/process/log'
import { type PartitionRules, partitionDays } from '../engine/log-partitions.ts'
import * as store from '../store/partition-rows.ts'

/** Entries and captured lines that move in one transaction: its lock of the execution keeps commands waiting. */
const MAX_MOVED = 20_000
const MOVED_AT_ONCE = 100
/** While ends cannot be published or archived, all executions of a partition may be left. */
const BATCHES_OF_A_SWEEP = 100
const LOCK_ATTEMPTS = 50
const LOCK_PAUSE_MS = 200

interface DropDeps {
  db: Db
  rules: PartitionRules
  log: Pick<Logger, 'info'>
}

/** Drops the partitions that no execution needs. Any number of replicas may do so at once. */
export async function dropPartitions({ db, rules, log }: DropDeps): Promise<void> {
  const { retention_days } = rules
  const lateDays =
    retention_days > 0 ? retention_days + (partitionDays(rules) ?? retention_days) : Infinity
  for (const { part, unused_days } of await store.listUnused(db)) {
    if (!(await isFree(db, part, unused_days > lateDays))) continue
    if (await dropWithRetries(db, part)) log.info({ part, unused_days }, 'log partition dropped')
  }
}

/** True if no execution has its log in a partition. Moves those that are left in a late one, some of them in each sweep. */
async function isFree(db: Db, part: number, isLate: boolean): Promise<boolean> {
  if (!isLate) return (await store.listExecutions(db, part, 1)).length === 0
  for (let batch = 0; batch < BATCHES_OF_A_SWEEP; batch++) {
    const left = await store.listExecutions(db, part, MOVED_AT_ONCE)
    if (left.length === 0) return true
    let moved = 0
    for (const { execution_id } of left) if (await moveLog(db, execution_id)) moved++
    if (moved === 0) return false
  }
  return false
}

/** Moves a log to partition 0, in parts; false if its row is locked. */
async function moveLog(db: Db, execution_id: string): Promise<boolean> {
  for (;;) {
    const moved = await db.tx((tx) => store.moveLog(tx, execution_id, MAX_MOVED))
    if (moved !== MAX_MOVED) return moved !== undefined
  }
}

/** Drops a partition; false if it is in use, gone, or locked at each attempt: then the next sweep tries it again. */
async function dropWithRetries(db: Db, part: number): Promise<boolean> {
  for (let attempt = 1; attempt <= LOCK_ATTEMPTS; attempt++)
    try {
      return await store.drop(db, part)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      await pause(LOCK_PAUSE_MS)
    }
  return false
}
