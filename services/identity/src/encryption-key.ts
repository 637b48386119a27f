import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Settings } from '@windlass/runtime/config/settings'
import { keyOf, MATERIAL_BYTES } from './domain/cipher.ts'
import { Keyring } from './keyring.ts'

const derive = promisify<string, string, number, object, Buffer>(scrypt)

/** Another one would make other keys of the same settings: nothing stored could be read. */
const SALT = 'windlass secrets 1'
/** About 64 MiB and a tenth of a second, once: what a person thought up as a key is slow to guess. */
const COST = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1_048_576 }

/** The keys that configured ones stand for; undefined without a current one. Costly: to be called once. */
export async function encryptionKeys({
  encryption_key,
  previous_keys,
}: Settings['security']['encryption']): Promise<Keyring | undefined> {
  if (encryption_key === undefined) return undefined
  const current = await derived(encryption_key)
  // One after the other: each takes a lot of memory.
  const previous = []
  for (const configured of previous_keys) previous.push(await derived(configured))
  return new Keyring(current, previous)
}

const derived = async (configured: string) =>
  keyOf(await derive(configured, SALT, MATERIAL_BYTES, COST))
