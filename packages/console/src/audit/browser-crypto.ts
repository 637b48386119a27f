import {
  type CheckpointCrypto,
  fromBase64Url,
  toBase64Url,
} from '@windlass/domain/audit-checkpoint'

const ED25519 = 'Ed25519'

const toBytes = (base64url: string) =>
  Uint8Array.from(fromBase64Url(base64url), (char) => char.charCodeAt(0))

/** Verifies checkpoints in the browser. */
export const browserCrypto: CheckpointCrypto = {
  async digest(text) {
    const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
    return toBase64Url(String.fromCharCode(...new Uint8Array(bytes)))
  },
  async verify(x, text, signature) {
    const key = await importKey(x)
    const bytes = new TextEncoder().encode(text)
    return crypto.subtle.verify(ED25519, key, toBytes(signature), bytes)
  },
}

async function importKey(x: string) {
  try {
    return await crypto.subtle.importKey('raw', toBytes(x), ED25519, false, ['verify'])
  } catch {
    throw new Error(
      'This browser cannot verify the signatures of checkpoints. From a terminal: npx windlass audit verify',
    )
  }
}
