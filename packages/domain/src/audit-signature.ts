import { createHash, createPublicKey, verify } from 'node:crypto'
import type { CheckpointCrypto } from './audit-checkpoint.ts'

/** Verifies checkpoints in Node. */
export const nodeCrypto: CheckpointCrypto = {
  digest: (text) => createHash('sha256').update(text).digest('base64url'),
  verify(x, text, signature) {
    try {
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
      return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'))
    } catch {
      return false // these bytes are no public key
    }
  },
}
