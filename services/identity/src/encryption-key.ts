import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { type Key, keyOf, MATERIAL_BYTES } from './domain/cipher.ts'

const derive = promisify<string, string, number, object, Buffer>(scrypt)

/** Another one would make other keys of the same settings: nothing stored could be read. */
const SALT = 'windlass secrets 1'
/** About 64 MiB and a tenth of a second, once: what a person thought up as a key is slow to guess. */
const COST = { N: 65_536, r: 8, p: 1, maxmem: 128 * 1_048_576 }

/** The key that a configured one stands for; undefined without. Costly: to be called once. */
export async function encryptionKey(configured: string | undefined): Promise<Key | undefined> {
  if (configured === undefined) return undefined
  return keyOf(await derive(configured, SALT, MATERIAL_BYTES, COST))
}
