import { Fault } from '@windlass/runtime/faults'
import type { Caches } from '../cache/create-caches.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type AuthenticateDeps, authenticate, bearerOf } from './authenticate.ts'
import { requirePermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'

export interface Deps extends AuthenticateDeps {
  getSession: Caches['getSession']
}

/** Workers read the configs of their tasks from the route that operators use. */
export const mayReadConfigs = rule({
  summary: 'config:*:read, or the session token of any worker',
  for: 'machines',
  requiredPermissions: ['config:*:read'],
  async authorize({ ctx }: AccessRequest<unknown>, deps: Deps): Promise<void> {
    const { enabled } = deps.settings.security.auth
    if (enabled && (await isWorker(deps, ctx))) return
    requirePermission(await authenticate(ctx, deps), 'config:*:read')
  },
})

async function isWorker({ getSession }: Deps, ctx: RequestContext): Promise<boolean> {
  const token = bearerOf(ctx)
  if (token === undefined) return false
  try {
    await getSession(token)
    return true
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unauthenticated') return false
    throw error
  }
}
