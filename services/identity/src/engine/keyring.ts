import { randomBytes } from 'node:crypto'
import {
  DecryptionError,
  decrypt,
  type EncryptedValue,
  encrypt,
  type Key,
  NONCE_BYTES,
} from '../domain/cipher.ts'

interface KeyDerivations {
  /** Derives the same keys, in the same order, under the fixed salt of earlier releases. */
  deriveFixed(): Promise<readonly Key[]>
  /** True once new values are encrypted under the salt of the installation; then it stays true. */
  usesKeySalt(): Promise<boolean>
}

/** The current key, which encrypts, and previous keys, which only decrypt; each under two salts. */
export class Keyring {
  /** Under the salt of the installation, the current one first. */
  readonly #salted: readonly Key[]
  readonly #derivations: KeyDerivations
  #fixed: Promise<readonly Key[]> | undefined
  #usesSalt = false

  constructor(salted: readonly Key[], derivations: KeyDerivations) {
    this.#salted = salted
    this.#derivations = derivations
  }

  /** Id of the key under which new values are encrypted. */
  async currentId(): Promise<string> {
    return (await this.#current()).id
  }

  /** Encrypts a value for its name under the current key. */
  async encrypt(name: string, value: string): Promise<EncryptedValue> {
    return encrypt(await this.#current(), name, value, randomBytes(NONCE_BYTES))
  }

  /** Decrypts a value of this name with the key that encrypted it. Throws DecryptionError. */
  async decrypt(name: string, stored: EncryptedValue): Promise<string> {
    const hasId = ({ id }: Key) => id === stored.key_id
    const key = this.#salted.find(hasId) ?? (await this.#fixedKeys()).find(hasId)
    if (!key) throw new DecryptionError(`key ${stored.key_id} is not configured`)
    return decrypt(key, name, stored)
  }

  /** Read until it is true: another replica may switch the installation to its salt. */
  async #current(): Promise<Key> {
    this.#usesSalt ||= await this.#derivations.usesKeySalt()
    const [current] = this.#usesSalt ? this.#salted : await this.#fixedKeys()
    if (!current) throw new Error('a keyring has at least one key')
    return current
  }

  #fixedKeys(): Promise<readonly Key[]> {
    this.#fixed ??= this.#derivations.deriveFixed()
    return this.#fixed
  }
}
