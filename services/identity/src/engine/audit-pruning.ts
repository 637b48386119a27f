import type { Head } from '@windlass/domain/audit'
import { Fault } from '@windlass/runtime/faults'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import * as audit from '../store/audit.ts'
import * as checkpoints from '../store/audit-checkpoints.ts'
import type { CheckpointKeys } from './checkpoint-keys.ts'
import { recordChange, systemOrigin } from './record-change.ts'
import { signCheckpoint } from './sign-checkpoints.ts'

interface PruneDeps {
  db: Db
  keys: CheckpointKeys
}

const BATCH = 500

/**
 * Deletes the entries up to one of the log and returns their number. It must have this hash, so that the remaining log
 * continues the exported copy. The database refuses entries that are too young.
 */
export async function pruneAudit({ db, keys }: PruneDeps, { seq, hash }: Head): Promise<number> {
  const pruned = await db.tx(async (tx) => {
    await checkpoints.lock(tx)
    const entry = await audit.findHash(tx, seq)
    if (!entry)
      throw new Fault('not_found', `the log has no entry ${seq}: it may be pruned already`)
    if (!entry.hash.equals(hash))
      throw new Fault('conflict', `entry ${seq} has another hash: run windlass audit verify`)
    return prune(tx, { keys, by: 'windlass audit prune', last: { seq, hash } })
  })
  while (await deletePruned(db, BATCH)) {}
  return pruned
}

/**
 * Prunes the entries that are older than a number of days, once a day: not before the oldest is a day older than that.
 * Returns the number of pruned entries.
 */
export const expireAudit = ({ db, keys }: PruneDeps, days: number): Promise<number> =>
  db.tx(async (tx) => {
    if (!(await checkpoints.tryLock(tx))) return 0
    const last = await audit.findExpired(tx, days)
    return last ? prune(tx, { keys, by: 'retention', last }) : 0
  })

/** Deletes rows of pruned entries, which no read returns any more; true if there may be more. */
export const deletePruned = async (db: Db, limit: number): Promise<boolean> =>
  (await audit.deletePruned(db, limit)) === limit

interface PruneRequest {
  keys: CheckpointKeys
  by: string
  /** The last pruned entry. */
  last: Head
}

/**
 * Signs the checkpoint, moves the base of the chain to it, and records in the chain that the entries were pruned. The
 * rows are deleted later, in transactions of a limited size.
 */
async function prune(tx: Tx, { keys, by, last }: PruneRequest): Promise<number> {
  const { seq, hash } = last
  const { key_id, entries } = await signCheckpoint(tx, keys, { seq, hash, reason: 'prune' })
  await audit.moveBase(tx, last)
  await checkpoints.deleteCovered(tx)
  const detail = { to_seq: seq, to_hash: hash.toString('hex'), deleted: entries, key_id }
  await recordChange(tx, systemOrigin(by), { action: 'audit.prune', object: 'audit', detail })
  return entries
}
