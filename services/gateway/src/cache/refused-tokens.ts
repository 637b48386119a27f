import { createHash } from 'node:crypto'
import { mayBeGenuine } from '@windlass/domain/token-checksum'
import { Fault } from '@windlass/runtime/faults'

/** Short, although an unknown token never becomes valid, because tokens are random and issued once. */
const KEEP_MS = 5_000
const MAX_ENTRIES = 10_000
/** Form of the tokens that may have a checksum; others, such as bootstrap tokens, have any form. */
const HAS_CHECKSUM = /^w[a-z]_[0-9a-f]{16}\.[A-Za-z0-9_-]{43}$/

/**
 * Negative cache: refuses a token without another lookup if its owner has just refused it or its checksum
 * does not match. Bounded: the oldest entry is dropped first. It comes after the caches of valid tokens, so
 * that their requests do not pay for its hashes.
 */
export class RefusedTokens {
  /** Time of refusal by hash of the token, in chronological order. */
  readonly #refusedAt = new Map<string, number>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Calls `lookUp` unless the token is known to be refused. Throws `unauthenticated` if it is. */
  async check<T>(token: string, lookUp: () => Promise<T>): Promise<T> {
    if (HAS_CHECKSUM.test(token) && !mayBeGenuine(token)) throw invalidToken()
    const hash = createHash('sha256').update(token, 'utf8').digest('base64url')
    const refusedAt = this.#refusedAt.get(hash)
    if (refusedAt !== undefined && this.#now() - refusedAt < KEEP_MS) throw invalidToken()
    try {
      return await lookUp()
    } catch (error) {
      if (error instanceof Fault && error.kind === 'unauthenticated') this.#add(hash)
      throw error
    }
  }

  #add(hash: string): void {
    this.#refusedAt.delete(hash)
    if (this.#refusedAt.size >= MAX_ENTRIES)
      this.#refusedAt.delete(this.#refusedAt.keys().next().value as string)
    this.#refusedAt.set(hash, this.#now())
  }
}

export const invalidToken = () => new Fault('unauthenticated', 'Invalid or expired token')
