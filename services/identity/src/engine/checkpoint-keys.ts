import type { Queries, Tx } from '@windlass/runtime/postgres/db'
import { DecryptionError } from '../domain/cipher.ts'
import * as store from '../store/audit-checkpoints.ts'
import type { Keyring } from './keyring.ts'
import { generatePrivatePart, importSigningKey, type SigningKey } from './signing-key.ts'

/** A public key, and whether its private part can be decrypted here. */
interface PublicKey extends Pick<store.KeyRow, 'key_id' | 'public_key' | 'created_at'> {
  confirmed: boolean
}

/**
 * The keys that sign checkpoints. A private part is random and is stored encrypted under the current encryption key, so
 * the rotation of that key re-encrypts it and changes no key id. A row that this process cannot decrypt is not used: if
 * there is no other, a new key is created.
 */
export class CheckpointKeys {
  readonly #keyring: Keyring | undefined
  /** Decrypted keys by id. */
  readonly #opened = new Map<string, SigningKey>()

  constructor(keyring: Keyring | undefined) {
    this.#keyring = keyring
  }

  /** The newest key, or the first one. The caller holds the lock of the checkpoints. */
  async current(tx: Tx): Promise<SigningKey> {
    for (const row of await store.listKeys(tx)) {
      const key = await this.#open(row)
      if (key) return key
    }
    const d = generatePrivatePart()
    const key = importSigningKey(d)
    const { key_id: encryption_key_id, ...encrypted } = await this.#requireKeyring().encryptKey(
      aadOf(key.kid),
      d,
    )
    await store.insertKey(tx, {
      ...encrypted,
      ...{ key_id: key.kid, public_key: key.x, encryption_key_id },
    })
    return key
  }

  async list(db: Queries): Promise<PublicKey[]> {
    const rows = await store.listKeys(db)
    return Promise.all(
      rows.map(async (row) => {
        const { key_id, public_key, created_at } = row
        const confirmed = (await this.#open(row))?.x === public_key
        return { key_id, public_key, created_at, confirmed }
      }),
    )
  }

  /** Re-encrypts the private parts that are under an earlier encryption key and can be decrypted. */
  async reencrypt(tx: Tx): Promise<void> {
    const keyring = this.#requireKeyring()
    await store.lock(tx)
    for (const { key_id, encryption_key_id, ...row } of await store.listKeys(tx)) {
      if (encryption_key_id === keyring.saltedId) continue
      const d = await undefinedIfUnreadable(
        keyring.decryptKey(aadOf(key_id), { ...row, key_id: encryption_key_id }),
      )
      if (d === undefined) continue
      const { key_id: current, ...encrypted } = await keyring.encryptKey(aadOf(key_id), d)
      await store.updateKey(tx, { ...encrypted, key_id, encryption_key_id: current })
    }
  }

  /** Undefined if the private part cannot be decrypted, or is that of another key. */
  async #open({
    key_id,
    encryption_key_id,
    ...row
  }: store.KeyRow): Promise<SigningKey | undefined> {
    const opened = this.#opened.get(key_id)
    if (opened || !this.#keyring) return opened
    const d = await undefinedIfUnreadable(
      this.#keyring.decryptKey(aadOf(key_id), { ...row, key_id: encryption_key_id }),
    )
    if (d === undefined) return undefined
    const key = importSigningKey(d)
    this.#opened.set(key_id, key)
    return key
  }

  #requireKeyring(): Keyring {
    if (this.#keyring) return this.#keyring
    throw new Error(
      'a checkpoint of the audit log is signed with a key that is encrypted under [svc.security.encryption].encryption_key: set it',
    )
  }
}

/** Additional data of the cipher. Never changes: stored keys depend on it. */
const aadOf = (key_id: string) => JSON.stringify(['windlass audit key 1', key_id])

async function undefinedIfUnreadable(decrypted: Promise<string>): Promise<string | undefined> {
  try {
    return await decrypted
  } catch (error) {
    if (error instanceof DecryptionError) return undefined
    throw error
  }
}
