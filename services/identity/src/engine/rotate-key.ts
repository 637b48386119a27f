import type {
  RotateKeyRequest,
  RotateKeyResponse,
} from '@windlass/proto/windlass/identity/v1/secrets'
import { invalid } from '@windlass/runtime/faults'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { DecryptionError } from '../domain/cipher.ts'
import { MAX_ENTRIES } from '../domain/entry.ts'
import { useKeySalt } from '../store/installation.ts'
import * as secrets from '../store/secrets.ts'
import type { CheckpointKeys } from './checkpoint-keys.ts'
import type { Keyring } from './keyring.ts'
import { type Origin, recordChange } from './record-change.ts'
import { reencryptSecret } from './secret-values.ts'

const MAX_BATCH = 1_000

interface RotateDeps {
  db: Db
  log: Logger
  keys: Keyring
  checkpointKeys: CheckpointKeys
}

/**
 * Encrypts one batch, and the keys that sign checkpoints, under the current key, derived with the salt of the installation. Its rows stay
 * locked from reading to writing, so a concurrent write is never overwritten by an older value. A
 * value that cannot be decrypted is reported in `unreadable` and not changed.
 */
export async function rotateKey(
  { db, log, keys, checkpointKeys }: RotateDeps,
  { after, limit }: RotateKeyRequest,
  by: Origin,
): Promise<RotateKeyResponse> {
  if (limit < 1 || limit > MAX_BATCH) throw invalid(`limit must be 1 to ${MAX_BATCH}`)
  await useKeySalt(db)
  const key_id = await keys.currentId()
  return db.tx(async (tx) => {
    await checkpointKeys.reencrypt(tx)
    const rows = await secrets.lockUnderOtherKeys(tx, key_id, after, limit)
    const { renewed, unreadable } = await reencryptRows(tx, { log, keys }, rows)
    await Promise.all(renewed.map((row) => secrets.put(tx, row, MAX_ENTRIES)))
    const remaining = await secrets.countUnderOtherKeys(tx, key_id)
    const detail = { key_id, rotated: renewed.length, remaining, unreadable }
    if (rows.length > 0)
      await recordChange(tx, by, { action: 'secret.rotate_key', object: 'secret', detail })
    const next = rows.length === limit ? rows.at(-1)?.name : undefined
    return { key_id, rotated: renewed.length, unreadable, next, remaining }
  })
}

async function reencryptRows(
  tx: Tx,
  { log, keys }: Pick<RotateDeps, 'log' | 'keys'>,
  rows: readonly secrets.StoredSecret[],
) {
  const renewed: secrets.SecretRow[] = []
  const unreadable: string[] = []
  for (const row of rows) {
    const { name, key_id } = row
    try {
      renewed.push(await reencryptSecret(tx, keys, row))
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      log.error({ name, key_id, reason: error.message }, 'failed to decrypt secret')
      unreadable.push(name)
    }
  }
  return { renewed, unreadable }
}
