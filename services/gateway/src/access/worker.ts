import { INTERNAL_ISSUER } from '@windlass/domain/caller'
import { Fault } from '@windlass/runtime/faults'
import type { Services } from '../clients/connect.ts'
import { isApiKey } from './api-key.ts'
import { bearerOf } from './authenticate.ts'
import { permissionDenied, requirePermission } from './caller.ts'
import { type AccessRequest, rule } from './rule.ts'

/** The worker that a request comes from, as far as it can be told. */
export interface WorkerIdentity {
  worker_name: string
  /** Empty: the newest registration of the name is meant. */
  session_id: string
}

export const ownWorker = rule({
  summary:
    'the session token of the worker in the path, or worker:*:* as a service account of its name; none is needed while authentication is off',
  for: 'machines',
  requiredPermissions: ['worker:*:*'],
  async authorize({
    ctx,
    params,
    services,
  }: AccessRequest<{ name: string }>): Promise<WorkerIdentity> {
    const token = bearerOf(ctx)
    const { name } = params
    if (token === undefined) {
      if (!services.settings.security.auth.enabled) return { worker_name: name, session_id: '' }
      throw new Fault('unauthenticated', 'Authorization token required')
    }
    if (services.executionTokens.verify(token)) throw permissionDenied('worker:*:*')
    const owner = isApiKey(token)
      ? await identityOfKey(services, token)
      : await services.getSession(token)
    if (owner.worker_name === name) return owner
    throw new Fault(
      'forbidden',
      `Worker identity mismatch: authenticated as '${owner.worker_name}', but accessing endpoint for '${name}'`,
    )
  },
})

/** A service account may speak for the worker of its name, if it may speak for workers at all. */
async function identityOfKey(services: Services, token: string): Promise<WorkerIdentity> {
  if (!services.settings.security.auth.enabled)
    throw new Fault('unauthenticated', 'Invalid or expired token')
  const caller = await services.authenticateToken(token)
  requirePermission(caller, 'worker:*:*')
  return { worker_name: caller.issuer === INTERNAL_ISSUER ? caller.subject : '', session_id: '' }
}
