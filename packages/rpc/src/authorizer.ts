import { type Metadata, status } from '@grpc/grpc-js'
import type { Caller } from '@windlass/domain/caller'
import type { Logger } from 'pino'
import { CALLER_HEADER, HEALTH_CHECK_PATH, SERVICE_TOKEN_HEADER } from './call.ts'
import type { RpcPolicy } from './policy.ts'
import type { ServiceIdentity } from './service-identity.ts'

/** Refusal of a call. Its message is the only detail that the client receives. */
export class RpcDenied extends Error {
  readonly code: status

  constructor(code: status, message: string) {
    super(message)
    this.code = code
  }
}

/** Transport rpcs without a policy: open to every service that authenticates. */
const OPEN_TO_ALL_SERVICES = new Set([HEALTH_CHECK_PATH, '/windlass.rpc.v1.Calls/Carry'])

/** Authenticates calling services and applies the policy of each rpc. An rpc without a policy cannot be called. */
export class RpcAuthorizer {
  readonly #identity: ServiceIdentity
  readonly #log: Logger
  readonly #policies = new Map<string, RpcPolicy>()

  constructor(identity: ServiceIdentity, log: Logger) {
    this.#identity = identity
    this.#log = log
  }

  add(path: string, policy: RpcPolicy | undefined): void {
    if (!policy) throw new Error(`no policy declared for ${path}`)
    this.#policies.set(path, policy)
  }

  /** Checks a gRPC call before its message is read; throws RpcDenied. */
  check(path: string, metadata: Metadata): void {
    const service = this.authenticate(headerText(metadata, SERVICE_TOKEN_HEADER))
    if (this.#policies.has(path)) this.authorize(path, service, headerText(metadata, CALLER_HEADER))
    else if (!OPEN_TO_ALL_SERVICES.has(path))
      throw new RpcDenied(status.UNIMPLEMENTED, `unknown rpc ${path}`)
  }

  /** Answers the service that a token proves; throws RpcDenied for any other token. */
  authenticate(token: string): string {
    const service = this.#identity.authenticateService(token)
    if (service === undefined) throw new RpcDenied(status.UNAUTHENTICATED, 'no valid service token')
    return service
  }

  /**
   * Applies the policy of an rpc. Returns the caller, or undefined if none is required or given; throws
   * RpcDenied.
   */
  authorize(path: string, service: string, callerToken: string): Caller | undefined {
    const policy = this.#policies.get(path)
    if (!policy?.services.includes(service)) {
      this.#log.warn({ rpc: path, service }, 'rpc denied: service not allowed')
      throw new RpcDenied(status.PERMISSION_DENIED, `${service} may not call ${path}`)
    }
    if (callerToken === '' && !policy.requiresCaller) return undefined
    const caller = this.#identity.verifyCaller(callerToken, service, path)
    if (!caller) {
      this.#log.warn({ rpc: path, service }, 'rpc denied: no valid on-behalf-of token')
      throw new RpcDenied(status.UNAUTHENTICATED, 'no valid on-behalf-of token')
    }
    return caller
  }
}

/** First value of a metadata key; empty if the key is absent. */
export const headerText = (metadata: Metadata, name: string): string =>
  String(metadata.get(name)[0] ?? '')
