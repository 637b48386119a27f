import { cachedRead } from '@windlass/runtime/metrics/cached-read'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Keyring } from './engine/keyring.ts'
import { encryptionKeySince } from './metrics.ts'
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
