import type { Head } from '@windlass/domain/audit'
import { Fault } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import * as audit from '../store/audit.ts'
import { recordChange, systemOrigin } from './record-change.ts'

const BY = systemOrigin('windlass audit prune')

/**
 * Deletes the entries up to a checkpoint and returns their number. The checkpoint must be an entry of the
 * log with this hash, so that the remaining log continues the exported copy. The entry `audit.prune`
 * records number and hash of the checkpoint in the chain. The database refuses entries that are too young.
 */
export const pruneAudit = (db: Db, { seq, hash }: Head): Promise<number> =>
  db.tx(async (tx) => {
    const entry = await audit.findHash(tx, seq)
    if (!entry)
      throw new Fault('not_found', `the log has no entry ${seq}: it may be pruned already`)
    if (!entry.hash.equals(hash))
      throw new Fault('conflict', `entry ${seq} has another hash: run windlass audit verify`)
    const deleted = await audit.prune(tx, { seq, hash })
    const detail = { to_seq: seq, to_hash: hash.toString('hex'), deleted }
    await recordChange(tx, BY, { action: 'audit.prune', object: 'audit', detail })
    return deleted
  })
