import { randomBytes } from 'node:crypto'
import {
  DecryptionError,
  decrypt,
  type EncryptedValue,
  encrypt,
  type Key,
  NONCE_BYTES,
} from '../domain/cipher.ts'
import { type SecretContext, toAad } from '../domain/secret-context.ts'

interface KeyDerivations {
  /** Derives the same keys, in the same order, with the fixed salt of earlier releases. */
  deriveFixed(): Promise<readonly Key[]>
  /** True once new values are encrypted with the salt of the installation; it never becomes false again. */
  usesKeySalt(): Promise<boolean>
}

/** The current key, which encrypts, and previous keys, which only decrypt; each with two salts. */
export class Keyring {
  /** Keys with the salt of the installation, the current one first. */
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

  /** Id of the current key with the salt of the installation. */
  get saltedId(): string {
    return this.#currentSalted().id
  }

  /** Encrypts a key of the installation, always with its salt: no earlier release has to decrypt it. */
  encryptKey(aad: string, value: string): Promise<EncryptedValue> {
    return encrypt(this.#currentSalted(), aad, value, randomBytes(NONCE_BYTES))
  }

  /** Decrypts what `encryptKey` has encrypted. Throws DecryptionError. */
  async decryptKey(aad: string, stored: EncryptedValue): Promise<string> {
    const key = this.#salted.find(({ id }) => id === stored.key_id)
    if (!key) throw new DecryptionError(`key ${stored.key_id} is not configured`)
    return decrypt(key, aad, stored)
  }

  /** Encrypts a value for its place under the current key. */
  async encrypt(context: SecretContext, value: string): Promise<EncryptedValue> {
    const key = await this.#current()
    return encrypt(key, this.#aadOf(key, context), value, randomBytes(NONCE_BYTES))
  }

  /** Decrypts the value of this place with the key that encrypted it. Throws DecryptionError. */
  async decrypt(context: SecretContext, stored: EncryptedValue): Promise<string> {
    const hasId = ({ id }: Key) => id === stored.key_id
    const key = this.#salted.find(hasId) ?? (await this.#fixedKeys()).find(hasId)
    if (!key) throw new DecryptionError(`key ${stored.key_id} is not configured`)
    return decrypt(key, this.#aadOf(key, context), stored)
  }

  /** True if values under this key are bound to version and scope; earlier releases bind to the name. */
  bindsVersions(key_id: string): boolean {
    return this.#salted.some(({ id }) => id === key_id)
  }

  #aadOf({ id }: Key, context: SecretContext): string {
    return this.bindsVersions(id) ? toAad(context) : context.name
  }

  #currentSalted(): Key {
    const [current] = this.#salted
    if (!current) throw new Error('a keyring has at least one key')
    return current
  }

  /** Read until it is true, because another replica may switch the installation to its salt. */
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
