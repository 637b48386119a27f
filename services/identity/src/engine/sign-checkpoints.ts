import type { Head } from '@windlass/domain/audit'
import type { Checkpoint } from '@windlass/domain/audit-checkpoint'
import { readClock } from '@windlass/runtime/postgres/clock'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import * as audit from '../store/audit.ts'
import * as checkpoints from '../store/audit-checkpoints.ts'
import type { CheckpointKeys } from './checkpoint-keys.ts'

/** Rounds of several replicas are not exact: a checkpoint is due when this part of the interval has passed. */
const DUE_SHARE = 0.9

/** Signs and stores the checkpoint of an entry. The caller holds the lock of the checkpoints. */
export async function signCheckpoint(
  tx: Tx,
  keys: CheckpointKeys,
  { seq, hash, reason }: Head & Pick<Checkpoint, 'reason'>,
): Promise<{ key_id: string; entries: number }> {
  const [key, base, at] = [await keys.current(tx), await audit.readBase(tx), await readClock(tx)]
  const entries = seq - base
  const token = key.sign({
    ...{ seq, hash: hash.toString('hex'), at: at.toISOString(), entries, reason },
  })
  await checkpoints.insert(tx, { seq, reason, key_id: key.kid, token })
  return { key_id: key.kid, entries }
}

/**
 * Signs the newest entry, unless there is none since the newest checkpoint, or a replica signed one within the interval.
 * An owner of the database who changes entries before the checkpoint cannot sign another one.
 */
export const signHead = (
  { db, keys, log }: { db: Db; keys: CheckpointKeys; log: Pick<Logger, 'error'> },
  intervalS: number,
): Promise<void> =>
  db.tx(async (tx) => {
    if (!(await checkpoints.tryLock(tx))) return
    const [head, newest] = [await audit.readHead(tx), await checkpoints.readNewest(tx)]
    if (newest && newest.seq > head.seq)
      log.error(
        { head: head.seq, checkpoint: newest.seq },
        'entries of the audit log are missing: run windlass audit verify',
      )
    const isDue = !newest || newest.age_s >= intervalS * DUE_SHARE
    if (isDue && head.seq > (newest?.seq ?? 0))
      await signCheckpoint(tx, keys, { ...head, reason: 'interval' })
  })
