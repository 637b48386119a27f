import { Fault } from '@windlass/runtime/faults'
import type { Services } from '../clients/connect.ts'
import type { RequestContext } from '../http/request-context.ts'
import { authenticate, bearerOf } from './authenticate.ts'
import { requirePermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'

/** Workers fetch what their tasks ask for from the route of the operators. */
export const mayReadConfigs = rule({
  summary: 'config:*:read, or the session token of any worker',
  for: 'machines',
  requiredPermissions: ['config:*:read'],
  async authorize({ ctx, services }: AccessRequest<unknown>): Promise<void> {
    const { enabled } = services.settings.security.auth
    if (enabled && (await isWorker(services, ctx))) return
    requirePermission(await authenticate(ctx, services), 'config:*:read')
  },
})

async function isWorker(services: Services, ctx: RequestContext): Promise<boolean> {
  const token = bearerOf(ctx)
  if (token === undefined) return false
  try {
    await services.getSession(token)
    return true
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unauthenticated') return false
    throw error
  }
}
