import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import type { Caches } from '../cache/create-caches.ts'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import type { RequestContext } from '../http/request-context.ts'
import { type AuthenticateDeps, authenticate, bearerOf } from './authenticate.ts'
import { requirePermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'
import { toWorkerIdentity } from './worker.ts'
import { requireWorkerCertificate } from './worker-certificate.ts'

export interface Deps extends AuthenticateDeps {
  getSession: Caches['getSession']
  settings: Settings
}

/** Workers read the configs of their tasks from the same route as operators; resolves to the worker. */
export const mayReadConfigs = rule({
  summary:
    'config:*:read, or the session token of any worker, or the execution token of an execution that its worker holds',
  for: 'machines',
  requiredPermissions: ['config:*:read'],
  acceptsExecutionTokens: 'own',
  async authorize(
    { ctx }: AccessRequest<unknown>,
    deps: Deps,
  ): Promise<WorkerIdentity | undefined> {
    const worker = await findWorker(deps, ctx)
    if (worker) requireWorkerCertificate(ctx, deps.settings, worker.worker_name)
    else requirePermission(await authenticate(ctx, deps), 'config:*:read')
    return worker
  },
})

/** Returns the worker of a session token or an execution token; undefined for any other credential. */
async function findWorker(
  { getSession, executionTokens }: Deps,
  ctx: RequestContext,
): Promise<WorkerIdentity | undefined> {
  const token = bearerOf(ctx)
  if (token === undefined) return undefined
  const claims = executionTokens.verify(token)
  if (claims) return toWorkerIdentity(claims)
  try {
    return await getSession(token)
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unauthenticated') return undefined
    throw error
  }
}
