import type { TLSSocket } from 'node:tls'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import type { RequestContext } from '../http/request-context.ts'

/**
 * Refuses a worker that has no client certificate of [svc.server].client_ca, where that is set. The
 * certificate is required in addition to the token: a stolen token alone opens no worker route.
 */
export function requireWorkerCertificate({ req }: RequestContext, { server }: Settings): void {
  if (server.client_ca === undefined) return
  if ((req.socket as Partial<TLSSocket>).authorized === true) return
  throw new Fault(
    'forbidden',
    'A client certificate is required. Start the worker with --client-cert and --client-key.',
  )
}
