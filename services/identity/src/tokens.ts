import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_BYTES = 32
const PREFIX_BYTES = 8
const SESSION_TOKEN = /^(ws_[0-9a-f]{16})\.[A-Za-z0-9_-]{43}$/

export interface NewToken {
  token: string
  prefix: string
  token_hash: Buffer
}

/** A session token, `<prefix>.<secret>`. Only prefix and hash are to be stored. */
export const newSessionToken = () => newToken('ws')

/** An API key, in the same form. */
export const newApiKey = () => newToken('wk')

function newToken(kind: 'ws' | 'wk'): NewToken {
  const prefix = `${kind}_${randomBytes(PREFIX_BYTES).toString('hex')}`
  const token = `${prefix}.${randomBytes(SECRET_BYTES).toString('base64url')}`
  return { token, prefix, token_hash: hashOf(token) }
}

/** The prefix of what looks like a session token, else undefined. */
export const prefixOf = (token: string): string | undefined => SESSION_TOKEN.exec(token)?.[1]

/** 256 random bits need no slow hash. */
export const hashOf = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest()

/** Whether a token has this hash; takes the same time wherever they differ. */
export const matches = (token: string, token_hash: Uint8Array): boolean =>
  isHash(hashOf(token), token_hash)

/** Stands in for the hash of what is not there, so that its absence takes as long as its presence. */
export const NO_HASH = Buffer.alloc(32)

/** Whether two hashes are the same; takes the same time wherever they differ. */
export const isHash = (given: Uint8Array, token_hash: Uint8Array): boolean =>
  given.length === token_hash.length && timingSafeEqual(given, token_hash)
