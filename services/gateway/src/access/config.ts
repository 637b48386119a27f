import { Fault } from '@windlass/runtime/faults'
import type { Caches } from '../cache/create-caches.ts'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type AuthenticateDeps, authenticate, bearerOf } from './authenticate.ts'
import { requirePermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'

export interface Deps extends AuthenticateDeps {
  getSession: Caches['getSession']
}

/** Workers read the configs of their tasks from the route that operators use; resolves to the worker. */
export const mayReadConfigs = rule({
  summary: 'config:*:read, or the session token of any worker',
  for: 'machines',
  requiredPermissions: ['config:*:read'],
  async authorize(
    { ctx }: AccessRequest<unknown>,
    deps: Deps,
  ): Promise<WorkerIdentity | undefined> {
    const worker = await findWorker(deps, ctx)
    if (!worker) requirePermission(await authenticate(ctx, deps), 'config:*:read')
    return worker
  },
})

/** Returns the worker of a session token; undefined for another credential. */
async function findWorker(
  { getSession }: Deps,
  ctx: RequestContext,
): Promise<WorkerIdentity | undefined> {
  const token = bearerOf(ctx)
  if (token === undefined) return undefined
  try {
    return await getSession(token)
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unauthenticated') return undefined
    throw error
  }
}
