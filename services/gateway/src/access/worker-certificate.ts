import type { TLSSocket } from 'node:tls'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import type { RequestContext } from '../http/request-context.ts'

/**
 * Refuses a worker that has no client certificate of [svc.server].client_ca, if that is set. The
 * certificate is required in addition to the token, so a stolen token alone opens no worker route. With
 * `client_cert_names`, a certificate is valid only for the worker that it names, so a stolen certificate
 * cannot be used with another worker's token. `worker_name` is undefined if the name is not known yet.
 */
export function requireWorkerCertificate(
  { req }: RequestContext,
  { server }: Settings,
  worker_name: string | undefined,
): void {
  if (server.client_ca === undefined) return
  const socket = req.socket as Partial<TLSSocket>
  if (socket.authorized !== true)
    throw new Fault(
      'forbidden',
      'A client certificate is required. Start the worker with --client-cert and --client-key.',
    )
  if (server.client_cert_names === 'any' || worker_name === undefined) return
  const isValidFor = NAMED_BY[server.client_cert_names]
  if (!namesOf(socket as TLSSocket).some((name) => isValidFor(name, worker_name)))
    throw new Fault(
      'forbidden',
      `The client certificate does not name the worker '${worker_name}'. Use one whose subject (CN) or DNS name does.`,
    )
}

const NAMED_BY = {
  equal: (name: string, worker_name: string) => name === worker_name,
  // A separator must follow: `team-a` is not a prefix of `team-ab`.
  prefix: (name: string, worker_name: string) =>
    name === worker_name || ['-', '.', '_'].some((sign) => worker_name.startsWith(name + sign)),
}

const PLAIN_NAME = /^[A-Za-z0-9._-]{1,128}$/

const known = new WeakMap<TLSSocket, string[]>()

/** Common names and DNS names of the certificate that are valid worker names. */
function namesOf(socket: TLSSocket): string[] {
  const names = known.get(socket) ?? readNames(socket)
  known.set(socket, names)
  return names
}

function readNames(socket: TLSSocket): string[] {
  const { subject, subjectaltname = '' } = socket.getPeerCertificate()
  // Node quotes an entry with a comma. Such an entry is not a worker name and is left out.
  const alternatives = subjectaltname
    .split(', ')
    .filter((entry) => entry.startsWith('DNS:'))
    .map((entry) => entry.slice('DNS:'.length))
  // Several common names in one subject are a list.
  const common: unknown[] = [subject?.CN].flat()
  return [...common, ...alternatives].filter(
    (name): name is string => typeof name === 'string' && PLAIN_NAME.test(name),
  )
}
