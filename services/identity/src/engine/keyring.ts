import { randomBytes } from 'node:crypto'
import {
  DecryptionError,
  decrypt,
  type EncryptedValue,
  encrypt,
  type Key,
  NONCE_BYTES,
} from '../domain/cipher.ts'

/** The current key, which encrypts, and previous keys, which only decrypt. */
export class Keyring {
  readonly #current: Key
  readonly #byId: ReadonlyMap<string, Key>

  constructor(current: Key, previous: readonly Key[]) {
    this.#current = current
    this.#byId = new Map([...previous, current].map((key) => [key.id, key]))
  }

  /** Id of the current key. */
  get id(): string {
    return this.#current.id
  }

  /** Encrypts a value for its name under the current key. */
  encrypt(name: string, value: string): Promise<EncryptedValue> {
    return encrypt(this.#current, name, value, randomBytes(NONCE_BYTES))
  }

  /** Decrypts a value of this name with the key that encrypted it. Throws DecryptionError. */
  decrypt(name: string, stored: EncryptedValue): Promise<string> {
    const key = this.#byId.get(stored.key_id)
    if (!key) throw new DecryptionError(`key ${stored.key_id} is not configured`)
    return decrypt(key, name, stored)
  }
}
