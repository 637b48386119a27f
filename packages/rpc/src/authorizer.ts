import { type Metadata, status } from '@grpc/grpc-js'
import type { Caller } from '@windlass/domain/caller'
import type { Logger } from 'pino'
import { CALLER_HEADER, SERVICE_TOKEN_HEADER } from './call.ts'
import type { RpcPolicy } from './policy.ts'
import type { ServiceIdentity } from './service-identity.ts'

/** Why a call is not let in. It tells the caller nothing but that. */
export class RpcDenied extends Error {
  readonly code: status

  constructor(code: status, message: string) {
    super(message)
    this.code = code
  }
}

/** Of gRPC itself: for every service of the cluster. */
const OPEN_TO_ALL_SERVICES = new Set([
  '/grpc.health.v1.Health/Check',
  '/windlass.rpc.v1.Calls/Carry',
])

/** Who may call what at this server: what is not declared, nobody. */
export class RpcAuthorizer {
  readonly #identity: ServiceIdentity
  readonly #log: Logger
  readonly #policies = new Map<string, RpcPolicy>()

  constructor(cluster: ServiceIdentity, log: Logger) {
    this.#identity = cluster
    this.#log = log
  }

  add(path: string, admission: RpcPolicy | undefined): void {
    if (!admission) throw new Error(`nobody says who may call ${path}`)
    this.#policies.set(path, admission)
  }

  /** Throws unless the sender of this metadata may call the rpc. */
  check(path: string, metadata: Metadata): void {
    const service = this.authenticate(metadata)
    if (this.#policies.has(path)) this.authorize(path, service, headerText(metadata, CALLER_HEADER))
    else if (!OPEN_TO_ALL_SERVICES.has(path))
      throw new RpcDenied(status.UNIMPLEMENTED, `unknown rpc ${path}`)
  }

  /** The service that shows its credential; throws for a stranger. */
  authenticate(metadata: Metadata): string {
    const service = this.#identity.authenticateService(headerText(metadata, SERVICE_TOKEN_HEADER))
    if (service === undefined)
      throw new RpcDenied(status.UNAUTHENTICATED, 'no credential of this cluster')
    return service
  }

  /** On whose behalf a service calls an rpc: undefined where that is neither asked nor said. Throws unless it may call it, and for him. */
  authorize(path: string, service: string, statement: string): Caller | undefined {
    const admission = this.#policies.get(path)
    if (!admission?.services.includes(service)) {
      this.#log.warn({ rpc: path, service }, 'a service was refused an rpc')
      throw new RpcDenied(status.PERMISSION_DENIED, `${service} may not call ${path}`)
    }
    if (statement === '' && !admission.requiresCaller) return undefined
    const caller = this.#identity.verifyCaller(statement, service, path)
    if (!caller) {
      this.#log.warn({ rpc: path, service }, 'a call was refused without a statement of who asks')
      throw new RpcDenied(status.UNAUTHENTICATED, 'no genuine statement of who asks')
    }
    return caller
  }
}

/** The first value under a name; empty for none. */
export const headerText = (metadata: Metadata, name: string): string =>
  String(metadata.get(name)[0] ?? '')
