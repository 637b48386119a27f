/** An AES-256 key and the id under which rows name it. */
export interface Key {
  id: string
  secret: Awaited<ReturnType<typeof crypto.subtle.importKey>>
}

/** A stored value. */
export interface EncryptedValue {
  key_id: string
  nonce: Uint8Array
  /** Ends with the 16 bytes of the authentication tag. */
  ciphertext: Uint8Array
}

/** A stored value that was encrypted under another key or for another place, or whose bytes were changed. */
export class DecryptionError extends Error {
  override readonly name = 'Unreadable'
}

const KEY_BYTES = 32
const KEY_ID_BYTES = 8
export const MATERIAL_BYTES = KEY_BYTES + KEY_ID_BYTES
export const NONCE_BYTES = 12

/** Imports 40 derived bytes: 32 for the key, 8 for its id. */
export async function importKey(material: Uint8Array): Promise<Key> {
  const bytes = Uint8Array.from(material)
  return {
    id: toHex(bytes.subarray(KEY_BYTES, MATERIAL_BYTES)),
    secret: await crypto.subtle.importKey('raw', bytes.subarray(0, KEY_BYTES), 'AES-GCM', false, [
      'encrypt',
      'decrypt',
    ]),
  }
}

/**
 * Encrypts a value with AES-256-GCM (NIST SP 800-38D), bound to this additional data. A nonce must
 * never be used twice with one key.
 */
export async function encrypt(
  key: Key,
  aad: string,
  value: string,
  nonce: Uint8Array,
): Promise<EncryptedValue> {
  const plain = new TextEncoder().encode(value)
  const stored = await crypto.subtle.encrypt(gcmParams(aad, nonce), key.secret, plain)
  return { key_id: key.id, nonce, ciphertext: new Uint8Array(stored) }
}

/** Decrypts a value that is bound to this additional data. Throws DecryptionError if it is not. */
export async function decrypt(key: Key, aad: string, stored: EncryptedValue): Promise<string> {
  if (stored.key_id !== key.id) throw new DecryptionError(`key ${stored.key_id} is not configured`)
  try {
    const ciphertext = Uint8Array.from(stored.ciphertext)
    const plain = await crypto.subtle.decrypt(gcmParams(aad, stored.nonce), key.secret, ciphertext)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plain)
  } catch {
    throw new DecryptionError('the stored value was changed')
  }
}

const gcmParams = (aad: string, nonce: Uint8Array) => ({
  name: 'AES-GCM',
  iv: Uint8Array.from(nonce),
  additionalData: new TextEncoder().encode(aad),
})

const toHex = (bytes: Uint8Array) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
