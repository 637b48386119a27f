import { Fault } from '@windlass/runtime/faults'
import { authorizationOf } from './authenticate.ts'
import { type AccessRequest, rule } from './rule.ts'

/** The tries are counted before the token is looked at, so that it cannot be guessed at speed. */
export const bootstrap = rule({
  summary: 'the bootstrap token',
  for: 'machines',
  requiredPermissions: [],
  async authorize({ ctx, services }: AccessRequest<unknown>): Promise<void> {
    await services.registrationLimit.count(ctx)
    const authorization = authorizationOf(ctx)
    if (authorization === undefined)
      throw new Fault('unauthenticated', 'Authorization header missing')
    const [, token] = /^Bearer\s+(\S+)\s*$/.exec(authorization) ?? []
    if (token === undefined) throw new Fault('unauthenticated', 'Invalid authorization format')
    const { configured, valid } = await services.identity.checkBootstrap({ token })
    if (!configured) throw new Fault('misconfigured', 'No bootstrap token is configured.')
    if (!valid) throw new Fault('forbidden', 'Invalid bootstrap token.')
  },
})
