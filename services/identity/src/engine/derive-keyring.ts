import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Settings } from '@windlass/runtime/config/settings'
import { importKey, MATERIAL_BYTES } from '../domain/cipher.ts'
import { Keyring } from './keyring.ts'

const scryptAsync = promisify<string, string, number, object, Buffer>(scrypt)

/**
 * Never changes: another salt derives other keys from the same settings, and no stored value could
 * be decrypted.
 */
const SALT = 'windlass secrets 1'
/** About 64 MiB and 0.1 s, once at start: a key that a person chose is slow to guess. */
const SCRYPT_COST = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1_048_576 }

/** Derives the configured keys; undefined without a current one. Takes 0.1 s and 64 MiB for each key. */
export async function deriveKeyring({
  encryption_key,
  previous_keys,
}: Settings['security']['encryption']): Promise<Keyring | undefined> {
  if (encryption_key === undefined) return undefined
  const current = await deriveKey(encryption_key)
  // In sequence: each derivation takes 64 MiB.
  const previous = []
  for (const configured of previous_keys) previous.push(await deriveKey(configured))
  return new Keyring(current, previous)
}

const deriveKey = async (configured: string) =>
  importKey(await scryptAsync(configured, SALT, MATERIAL_BYTES, SCRYPT_COST))
