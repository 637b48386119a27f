import { Fault } from '@windlass/runtime/faults'
import type { Clients } from '../clients/connect.ts'
import { authorizationOf } from './authenticate.ts'
import type { RateLimit } from './rate-limit.ts'
import { type AccessRequest, rule } from './rule.ts'

export interface Deps {
  identity: Clients['identity']
  registrationLimit: RateLimit
}

/** Attempts are counted before the token is checked, so that guessing is rate-limited. */
export const bootstrap = rule({
  summary: 'the bootstrap token',
  for: 'machines',
  requiredPermissions: [],
  async authorize(
    { ctx }: AccessRequest<unknown>,
    { identity, registrationLimit }: Deps,
  ): Promise<void> {
    await registrationLimit.count(ctx)
    const authorization = authorizationOf(ctx)
    if (authorization === undefined)
      throw new Fault('unauthenticated', 'Authorization header missing')
    const [, token] = /^Bearer\s+(\S+)\s*$/.exec(authorization) ?? []
    if (token === undefined) throw new Fault('unauthenticated', 'Invalid authorization format')
    const { configured, valid } = await identity.checkBootstrap({ token })
    if (!configured) throw new Fault('misconfigured', 'No bootstrap token is configured.')
    if (!valid) throw new Fault('forbidden', 'Invalid bootstrap token.')
  },
})
