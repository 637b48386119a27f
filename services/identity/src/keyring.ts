import { randomBytes } from 'node:crypto'
import { type Key, NONCE_BYTES, type Sealed, seal, Unreadable, unseal } from './domain/cipher.ts'

/** The key that values are encrypted under, and those that may have been it. */
export class Keyring {
  readonly #current: Key
  readonly #byId: ReadonlyMap<string, Key>

  constructor(current: Key, previous: readonly Key[]) {
    this.#current = current
    this.#byId = new Map([...previous, current].map((key) => [key.id, key]))
  }

  /** Of the current key. */
  get id(): string {
    return this.#current.id
  }

  /** Encrypts a value for its name under the current key. */
  seal(name: string, value: string): Promise<Sealed> {
    return seal(this.#current, { name, value }, randomBytes(NONCE_BYTES))
  }

  /** The value that was sealed for this name, under whichever of these keys. Throws Unreadable. */
  open(name: string, sealed: Sealed): Promise<string> {
    const key = this.#byId.get(sealed.key_id)
    if (!key)
      throw new Unreadable(
        `it was encrypted under the key ${sealed.key_id}, which is not configured`,
      )
    return unseal(key, name, sealed)
  }
}
