import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

interface Timed {
  /** End of validity, in seconds since 1970. */
  exp: number
}

const encode = (text: string) => Buffer.from(text).toString('base64url')

/** The only header that is signed or accepted, so a token cannot choose another algorithm. */
const HEADER = encode('{"alg":"HS256","typ":"JWT"}')

/**
 * Signs and verifies claims as JWTs under HS256, in a few microseconds. Each purpose has a key of its
 * own, so a token signed for one purpose is invalid for every other.
 */
export class Signer<Claims extends object> {
  /** Made once: with bytes instead, Node makes a key for each signature, which takes 21 of 25 µs. */
  readonly #key: KeyObject

  constructor(secret: string | Buffer, purpose: string) {
    this.#key = createSecretKey(createHmac('sha256', secret).update(`windlass ${purpose}`).digest())
  }

  sign(claims: Claims & Timed): string {
    const text = `${HEADER}.${encode(JSON.stringify(claims))}`
    return `${text}.${this.#tagOf(text)}`
  }

  /** Claims of a token with a valid signature that has not ended; undefined for every other text. */
  verify(text: string, nowMs = Date.now()): (Claims & Timed) | undefined {
    const end = text.lastIndexOf('.')
    if (end < 0 || !text.startsWith(`${HEADER}.`)) return undefined
    // Compared as text: several base64 texts decode to the same bytes.
    const tag = Buffer.from(text.slice(end + 1))
    const expected = Buffer.from(this.#tagOf(text.slice(0, end)))
    if (tag.length !== expected.length || !timingSafeEqual(tag, expected)) return undefined
    const body = Buffer.from(text.slice(HEADER.length + 1, end), 'base64url').toString()
    const claims = JSON.parse(body) as Claims & Timed
    return claims.exp * 1_000 > nowMs ? claims : undefined
  }

  #tagOf(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url')
  }
}

/** The `exp` claim of a token that is valid for this number of seconds from now. */
export const expiresIn = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds
