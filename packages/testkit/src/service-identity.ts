import { ANONYMOUS_CALLER, type Caller } from '@windlass/domain/caller'
import { ExecutionsService } from '@windlass/proto/windlass/executions/v1/executions'
import type { CallOptions } from '@windlass/rpc/call'
import { connect, type RpcClient } from '@windlass/rpc/client'
import { allow, type RpcAccess } from '@windlass/rpc/policy'
import { createServiceIdentity, type ServiceIdentity } from '@windlass/rpc/service-identity'

/** The RPC secret of all services that run inside of test processes. */
export const TEST_RPC_SECRET = 'a secret that all services of the tests share'

const identities = new Map<string, ServiceIdentity>()

/** Returns the identity of a service, for calls of a test and for fakes. */
export function testIdentity(service: string): ServiceIdentity {
  const known = identities.get(service) ?? createServiceIdentity(TEST_RPC_SECRET, service)
  identities.set(service, known)
  return known
}

type Definition = Parameters<typeof connect>[0]
type Rpc = (request: unknown, options?: CallOptions) => Promise<unknown>

/** Connects a client to a service under test; by default as the gateway, for an anonymous caller. */
export function clientOf<S extends Definition>(
  definition: S,
  addresses: readonly string[],
  { as = 'gateway', ...asking }: { as?: string; caller?: Caller; requestId?: string } = {},
): RpcClient<S> {
  const client = connect(definition, addresses, testIdentity(as))
  const rpcs = Object.keys(definition).map((name): [string, Rpc] => {
    const call = client[name] as Rpc
    return [
      name,
      (request, options) => call(request, { caller: ANONYMOUS_CALLER, ...asking, ...options }),
    ]
  })
  return { ...client, ...Object.fromEntries(rpcs) }
}

/** Signs a caller for `submit` of executions. */
export const signedCaller = (caller: Caller = ANONYMOUS_CALLER, service = 'gateway'): string =>
  testIdentity(service).signCaller(caller, 'executions', ExecutionsService.submit.path)

/** Verifies a signed caller as executions does. Returns undefined if it is invalid. */
export const verifiedStarter = (statement: string, service = 'gateway'): Caller | undefined =>
  testIdentity('executions').verifyCaller(statement, service, ExecutionsService.submit.path)

/** An RPC policy for fakes: gateway, scheduler and dispatcher may call every rpc. */
export const allowAll = <S extends Definition>(definition: S): RpcAccess<S> =>
  Object.fromEntries(
    Object.keys(definition).map((rpc) => [rpc, allow('gateway', 'scheduler', 'dispatcher')]),
  ) as unknown as RpcAccess<S>
