import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { encodeSecret, RANDOM_BYTES } from '@windlass/domain/token-checksum'

const PREFIX_BYTES = 8
const SESSION_TOKEN = /^(ws_[0-9a-f]{16})\.[A-Za-z0-9_-]{43}$/
const WORKER_TOKEN = /^(wt_[0-9a-f]{16})\.[A-Za-z0-9_-]{43}$/

export interface NewToken {
  token: string
  prefix: string
  token_hash: Buffer
}

/** Creates a session token, `<prefix>.<secret>`. Only prefix and hash may be stored. */
export const newSessionToken = () => newToken('ws')

/** Creates an API key of the same form. */
export const newApiKey = () => newToken('wk')

/** Creates a worker token of the same form. */
export const newWorkerToken = () => newToken('wt')

function newToken(kind: 'ws' | 'wk' | 'wt'): NewToken {
  const prefix = `${kind}_${randomBytes(PREFIX_BYTES).toString('hex')}`
  const token = `${prefix}.${encodeSecret(prefix, randomBytes(RANDOM_BYTES))}`
  return { token, prefix, token_hash: hashOf(token) }
}

/** Prefix of a session token; undefined if the text does not have its form. */
export const sessionPrefixOf = (token: string): string | undefined => SESSION_TOKEN.exec(token)?.[1]

/** Prefix of a worker token; undefined if the text does not have its form. */
export const workerTokenPrefixOf = (token: string): string | undefined =>
  WORKER_TOKEN.exec(token)?.[1]

/** SHA-256 is enough: a slow hash protects guessable secrets, and these have 224 random bits. */
export const hashOf = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest()

/** True if the token has this hash. The time taken does not depend on where they differ. */
export const hasHash = (token: string, token_hash: Uint8Array): boolean =>
  equalsHash(hashOf(token), token_hash)

/** Compared in place of a missing hash, so an unknown prefix takes as long as a known one. */
export const NO_HASH = Buffer.alloc(32)

/** True if two hashes are equal. The time taken does not depend on where they differ. */
export const equalsHash = (hash: Uint8Array, token_hash: Uint8Array): boolean =>
  hash.length === token_hash.length && timingSafeEqual(hash, token_hash)
