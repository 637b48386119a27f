import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import type { ExecutionClaims, ExecutionTokens } from '@windlass/domain/execution-tokens'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import { exactClientAddress } from '@windlass/runtime/http/client-address'
import type { Caches } from '../cache/create-caches.ts'
import type { WorkerPresence } from '../clients/worker-presence.ts'
import type { WorkerIdentity } from '../domain/worker-identity.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { AuthenticateToken } from './api-key.ts'
import { isApiKey } from './api-key.ts'
import { bearerOf } from './authenticate.ts'
import { permissionDenied, requirePermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'
import { requireWorkerCertificate } from './worker-certificate.ts'

export interface Deps {
  authenticateToken: AuthenticateToken
  executionTokens: ExecutionTokens
  getSession: Caches['getSession']
  presence: WorkerPresence
  settings: Settings
}

export const ownWorker = rule({
  summary:
    'the session token of the worker in the path, or worker:*:* as a service account of its name; none is needed while authentication is off',
  for: 'machines',
  requiredPermissions: ['worker:*:*'],
  async authorize(
    { ctx, params }: AccessRequest<{ name: string }>,
    deps: Deps,
  ): Promise<WorkerIdentity> {
    requireWorkerCertificate(ctx, deps.settings, params.name)
    const token = bearerOf(ctx)
    const { name } = params
    if (token === undefined) {
      if (!deps.settings.security.auth.enabled)
        return seen(deps, { worker_name: name, session_id: '' })
      throw new Fault('unauthenticated', 'Authorization token required')
    }
    if (deps.executionTokens.verify(token)) throw permissionDenied('worker:*:*')
    const owner = isApiKey(token)
      ? await identityOfKey(ctx, deps, token)
      : await deps.getSession(token)
    if (owner.worker_name === name) return seen(deps, owner)
    throw identityMismatch(owner.worker_name, name)
  },
})

export const ownExecution = rule({
  summary:
    'as *own worker*, or the execution token of the execution, with which the worker in the path holds it',
  for: 'machines',
  requiredPermissions: ['worker:*:*'],
  acceptsExecutionTokens: 'own',
  async authorize(request: AccessRequest<{ name: string }>, deps: Deps): Promise<WorkerIdentity> {
    requireWorkerCertificate(request.ctx, deps.settings, request.params.name)
    const token = bearerOf(request.ctx)
    const claims = token === undefined ? undefined : deps.executionTokens.verify(token)
    if (!claims) return ownWorker.authorize(request, deps)
    const worker = toWorkerIdentity(claims)
    const { name } = request.params
    if (worker.worker_name !== name) throw identityMismatch(worker.worker_name, name)
    return seen(deps, worker)
  },
})

/**
 * The worker that an execution token names. Its claim is compared by `executions` with every write
 * and read; claimHolderOf compares the execution.
 */
export const toWorkerIdentity = ({
  exec_id: execution_id,
  generation: claim_generation,
  worker: worker_name,
}: ExecutionClaims): WorkerIdentity => ({
  worker_name,
  session_id: '',
  execution: { execution_id, claim_generation },
})

export const identityMismatch = (authenticated: string, name: string) =>
  new Fault(
    'forbidden',
    `Worker identity mismatch: authenticated as '${authenticated}', but accessing endpoint for '${name}'`,
  )

/** Records that the worker sent a request, which proves that it has not died. */
function seen({ presence }: Deps, worker: WorkerIdentity): WorkerIdentity {
  presence.reportActive(worker)
  return worker
}

/** A service account acts for the worker of the same name if it has the general permission for workers. */
async function identityOfKey(
  ctx: RequestContext,
  { authenticateToken, settings }: Deps,
  token: string,
): Promise<WorkerIdentity> {
  if (!settings.security.auth.enabled)
    throw new Fault('unauthenticated', 'Invalid or expired token')
  const caller = await authenticateToken(
    token,
    exactClientAddress(ctx.req, settings.server.trusted_proxies),
  )
  requirePermission(caller, 'worker:*:*')
  return { worker_name: caller.issuer === INTERNAL_ISSUER ? caller.subject : '', session_id: '' }
}
