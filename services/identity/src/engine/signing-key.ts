import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { type Checkpoint, signingInput, thumbprintInput } from '@windlass/domain/audit-checkpoint'
import { nodeCrypto } from '@windlass/domain/audit-signature'

/** An Ed25519 key that signs checkpoints of the audit chain. */
export interface SigningKey {
  /** Thumbprint of the public key. */
  kid: string
  /** The public key as base64url. */
  x: string
  /** Returns the checkpoint as a JWS. */
  sign(checkpoint: Checkpoint): string
}

/** Creates the private part of a key, as base64url. */
export const generatePrivatePart = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }).d ?? ''

/** Imports a private part. The public part is computed from it: the stored one could have been exchanged. */
export function importSigningKey(d: string): SigningKey {
  const pkcs8 = Buffer.concat([PKCS8_ED25519, Buffer.from(d, 'base64url')])
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const kid = nodeCrypto.digest(thumbprintInput(x)) as string
  return {
    kid,
    x,
    sign(checkpoint) {
      const input = signingInput(kid, checkpoint)
      return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`
    },
  }
}

/** The bytes before the 32 of a private key in PKCS #8 (RFC 8410). */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')
