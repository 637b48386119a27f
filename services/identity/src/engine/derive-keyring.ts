import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Db } from '@windlass/runtime/postgres/db'
import { importKey, type Key, MATERIAL_BYTES } from '../domain/cipher.ts'
import { readKeyDerivation } from '../store/installation.ts'
import { Keyring } from './keyring.ts'

const scryptAsync = promisify<string, string | Buffer, number, object, Buffer>(scrypt)

/** Salt of earlier releases, the same in every installation. Never changes, because rows depend on it. */
const FIXED_SALT = 'windlass secrets 1'
/** About 64 MiB and 0.1 s, once at start, so that guessing a key that a person chose is slow. */
const SCRYPT_COST = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1_048_576 }

/**
 * Derives the configured keys with the salt of the installation; undefined without a current key. Keys with
 * the fixed salt are derived when a row first needs one, in 0.1 s and 64 MiB each: a row names its key by
 * an id that is derived with the key, so it records the derivation too.
 */
export async function deriveKeyring(
  db: Db,
  { encryption_key, previous_keys }: Settings['security']['encryption'],
): Promise<Keyring | undefined> {
  if (encryption_key === undefined) return undefined
  const configured = [encryption_key, ...previous_keys]
  const { key_salt } = await readKeyDerivation(db)
  return new Keyring(await deriveKeys(configured, key_salt), {
    deriveFixed: () => deriveKeys(configured, FIXED_SALT),
    usesKeySalt: async () => (await readKeyDerivation(db)).uses_key_salt,
  })
}

/** In sequence: each derivation takes 64 MiB. */
async function deriveKeys(configured: readonly string[], salt: string | Buffer): Promise<Key[]> {
  const keys: Key[] = []
  for (const secret of configured)
    keys.push(await importKey(await scryptAsync(secret, salt, MATERIAL_BYTES, SCRYPT_COST)))
  return keys
}
