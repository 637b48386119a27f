import type { Settings } from '@windlass/runtime/config/settings'
import type { Redis } from '@windlass/runtime/redis/redis'
import { RefusedTokens } from '../cache/refused-tokens.ts'
import { GuessLimit } from './guess-limit.ts'
import { createRateLimit } from './rate-limit.ts'

/** For each client, fixed by the contract. */
const TOKEN_TEST_RATE = '10/minute'

/** Wrong API keys at the sign-in of the console, for each client address. */
const SIGN_IN_RATE = '10/minute'

/** The limits of requests per client address. */
export function createRequestLimits({ workers, server }: Settings, redis: Redis) {
  const limitRate = (name: string, rate: string) =>
    createRateLimit({ name, rate, trustedProxies: server.trusted_proxies }, redis)
  return {
    registrationLimit: limitRate('register', workers.register_rate_limit),
    refusedRegistrars: new RefusedTokens(),
    bootstrapGuesses: new GuessLimit(limitRate('register-failed', workers.register_rate_limit)),
    signInGuesses: new GuessLimit(limitRate('sign-in', SIGN_IN_RATE)),
    tokenTestLimit: limitRate('test-token', TOKEN_TEST_RATE),
  }
}
