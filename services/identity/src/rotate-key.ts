import type {
  RotateKeyRequest,
  RotateKeyResponse,
} from '@windlass/proto/windlass/identity/v1/secrets'
import { invalid } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Logger } from '@windlass/runtime/process/log'
import { type Origin, record } from './audit.ts'
import { Unreadable } from './domain/cipher.ts'
import type { Keyring } from './keyring.ts'
import * as secrets from './store/secrets.ts'

const MAX_BATCH = 1_000

interface Parts {
  db: Db
  log: Logger
  keys: Keyring
}

/**
 * Encrypts one batch anew. Its rows are held from reading to writing, so a value that is replaced
 * meanwhile is not set back; what cannot be opened is told and left alone.
 */
export async function rotate(
  { db, log, keys }: Parts,
  { after, limit }: RotateKeyRequest,
  by: Origin,
): Promise<RotateKeyResponse> {
  if (limit < 1 || limit > MAX_BATCH) throw invalid(`limit must be 1 to ${MAX_BATCH}`)
  return db.tx(async (tx) => {
    const rows = await secrets.lockOthers(tx, keys.id, after, limit)
    const { renewed, unreadable } = await resealed({ log, keys }, rows)
    if (renewed.length > 0) await secrets.reseal(tx, renewed)
    const remaining = await secrets.countOthers(tx, keys.id)
    const detail = { key_id: keys.id, rotated: renewed.length, remaining, unreadable }
    if (rows.length > 0)
      await record(tx, by, { action: 'secret.rotate_key', object: 'secret', detail })
    const next = rows.length === limit ? rows.at(-1)?.name : undefined
    return { key_id: keys.id, rotated: renewed.length, unreadable, next, remaining }
  })
}

async function resealed({ log, keys }: Omit<Parts, 'db'>, rows: readonly secrets.SecretRow[]) {
  const renewed: secrets.SecretRow[] = []
  const unreadable: string[] = []
  for (const row of rows) {
    const { name, key_id } = row
    try {
      renewed.push({ name, ...(await keys.seal(name, await keys.open(name, row))) })
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      log.error({ name, key_id, reason: error.message }, 'a secret cannot be decrypted')
      unreadable.push(name)
    }
  }
  return { renewed, unreadable }
}
