import { cachedRead } from '@windlass/runtime/metrics/cached-read'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Keyring } from './engine/keyring.ts'
import { checkpointOverdue, encryptionKeySince } from './metrics.ts'
import { readUncovered } from './store/audit-checkpoints.ts'
import * as store from './store/encryption-keys.ts'

/** Observes the age of the current key while metrics are collected, and records its first use; answers `stop`. */
export function observeKeyAge(db: Db, keys: Keyring): () => void {
  const read = cachedRead(async () => {
    const key_id = await keys.currentId()
    const since = await store.readFirstUse(db, key_id)
    if (since !== undefined) return since
    await store.recordUse(db, key_id)
    return store.readFirstUse(db, key_id)
  })
  // Its age counts from the start, whenever metrics are first collected.
  void read()
  return encryptionKeySince.observe(async (report) => {
    const since = await read()
    if (since !== undefined) report(since)
  })
}

/** Observes for how long a checkpoint has been overdue while metrics are collected; answers `stop`. */
export function observeCheckpoints(db: Db, intervalS: number): () => void {
  const read = cachedRead(async () => (await readUncovered(db)) ?? { age_s: 0 })
  return checkpointOverdue.observe(async (report) => {
    const uncovered = await read()
    if (uncovered) report(Math.max(0, uncovered.age_s - intervalS))
  })
}
