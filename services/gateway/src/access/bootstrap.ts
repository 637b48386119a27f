import { Fault } from '@windlass/runtime/faults'
import type { Clients } from '../clients/connect.ts'
import { authorizationOf } from './authenticate.ts'
import type { GuessLimit } from './guess-limit.ts'
import type { RateLimit } from './rate-limit.ts'
import { type AccessRequest, rule } from './rule.ts'

export interface Deps {
  identity: Clients['identity']
  registrationLimit: RateLimit
  bootstrapGuesses: GuessLimit
}

/**
 * Attempts with a wrong token are counted apart from registrations, and before the token is checked.
 */
export const bootstrap = rule({
  summary: 'the bootstrap token',
  for: 'machines',
  requiredPermissions: [],
  async authorize(
    { ctx }: AccessRequest<unknown>,
    { identity, registrationLimit, bootstrapGuesses }: Deps,
  ): Promise<void> {
    const authorization = authorizationOf(ctx)
    if (authorization === undefined)
      throw new Fault('unauthenticated', 'Authorization header missing')
    const [, token] = /^Bearer\s+(\S+)\s*$/i.exec(authorization) ?? []
    if (token === undefined) throw new Fault('unauthenticated', 'Invalid authorization format')
    const { configured, valid } = await bootstrapGuesses.verify(ctx, token, () =>
      identity.checkBootstrap({ token }),
    )
    if (!configured) throw new Fault('misconfigured', 'No bootstrap token is configured.')
    if (!valid) throw new Fault('forbidden', 'Invalid bootstrap token.')
    await registrationLimit.count(ctx)
  },
})
