/** What encrypts, and the id by which rows say that it did. */
export interface Key {
  id: string
  secret: Awaited<ReturnType<typeof crypto.subtle.importKey>>
}

/** A value as it is stored. */
export interface Sealed {
  key_id: string
  nonce: Uint8Array
  /** With the tag at its end. */
  ciphertext: Uint8Array
}

/** A stored value that this key does not open: of another key, moved to another name, or changed. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

const KEY_BYTES = 32
const KEY_ID_BYTES = 8
export const MATERIAL_BYTES = KEY_BYTES + KEY_ID_BYTES
export const NONCE_BYTES = 12

/** Makes a key of 40 derived bytes: 32 to encrypt with, 8 to be known by. */
export async function keyOf(material: Uint8Array): Promise<Key> {
  const bytes = Uint8Array.from(material)
  return {
    id: hexOf(bytes.subarray(KEY_BYTES, MATERIAL_BYTES)),
    secret: await crypto.subtle.importKey('raw', bytes.subarray(0, KEY_BYTES), 'AES-GCM', false, [
      'encrypt',
      'decrypt',
    ]),
  }
}

interface Named {
  name: string
  value: string
}

/** Encrypts a value for its name with AES-256-GCM. A nonce must never be used twice under one key. */
export async function seal(key: Key, { name, value }: Named, nonce: Uint8Array): Promise<Sealed> {
  const plain = new TextEncoder().encode(value)
  const sealed = await crypto.subtle.encrypt(boundTo(name, nonce), key.secret, plain)
  return { key_id: key.id, nonce, ciphertext: new Uint8Array(sealed) }
}

/** The value that was sealed for this name. Throws Unreadable, and never answers another's. */
export async function unseal(key: Key, name: string, sealed: Sealed): Promise<string> {
  if (sealed.key_id !== key.id)
    throw new Unreadable(`it was encrypted under the key ${sealed.key_id}, which is not configured`)
  try {
    const ciphertext = Uint8Array.from(sealed.ciphertext)
    const plain = await crypto.subtle.decrypt(boundTo(name, sealed.nonce), key.secret, ciphertext)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plain)
  } catch {
    throw new Unreadable('what is stored was changed')
  }
}

const boundTo = (name: string, nonce: Uint8Array) => ({
  name: 'AES-GCM',
  iv: Uint8Array.from(nonce),
  additionalData: new TextEncoder().encode(name),
})

const hexOf = (bytes: Uint8Array) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
