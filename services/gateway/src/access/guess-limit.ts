import { createHash } from 'node:crypto'
import type { RequestContext } from '../http/request-context.ts'
import type { RateLimit } from './rate-limit.ts'

/** More than the tokens that one installation accepts at a time. */
const MAX_ACCEPTED = 256

/**
 * Limits wrong credentials of an address separately from right ones: a client that guesses uses up no
 * attempts of the clients that share its address, such as a fleet behind one proxy.
 */
export class GuessLimit {
  readonly #failures: RateLimit
  /**
   * Hashes of credentials that were right at their last check; their attempts are counted after the check.
   */
  readonly #accepted = new Set<string>()

  constructor(failures: RateLimit) {
    this.#failures = failures
  }

  /**
   * Returns the verdict of `check` on a credential. Attempts are counted before the check, so that guessing
   * in parallel is limited too. Throws `rate_limited` for an unknown credential above the limit.
   */
  async verify<T extends { valid: boolean }>(
    ctx: RequestContext,
    credential: string,
    check: () => Promise<T>,
  ): Promise<T> {
    const hash = createHash('sha256').update(credential, 'utf8').digest('base64url')
    const isKnown = this.#accepted.has(hash)
    if (!isKnown) await this.#failures.count(ctx)
    const verdict = await check()
    if (verdict.valid && !isKnown) {
      await this.#failures.refund(ctx)
      if (this.#accepted.size >= MAX_ACCEPTED) this.#accepted.clear()
      this.#accepted.add(hash)
    }
    if (!verdict.valid && this.#accepted.delete(hash)) await this.#failures.count(ctx)
    return verdict
  }
}
