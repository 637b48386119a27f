import { type Metadata, status } from '@grpc/grpc-js'
import type { Caller } from '@windlass/domain/caller'
import type { Logger } from 'pino'
import { CALLER, CREDENTIAL } from './call.ts'
import type { Admission } from './policy.ts'
import type { Cluster } from './service-identity.ts'

/** Why a call is not let in. It tells the caller nothing but that. */
export class Refused extends Error {
  readonly code: status

  constructor(code: status, message: string) {
    super(message)
    this.code = code
  }
}

/** Of gRPC itself: for every service of the cluster. */
const FOR_ALL = new Set(['/grpc.health.v1.Health/Check', '/windlass.rpc.v1.Calls/Carry'])

/** Who may call what at this server: what is not declared, nobody. */
export class Admissions {
  readonly #cluster: Cluster
  readonly #log: Logger
  readonly #known = new Map<string, Admission>()

  constructor(cluster: Cluster, log: Logger) {
    this.#cluster = cluster
    this.#log = log
  }

  add(path: string, admission: Admission | undefined): void {
    if (!admission) throw new Error(`nobody says who may call ${path}`)
    this.#known.set(path, admission)
  }

  /** Throws unless the sender of this metadata may call the rpc. */
  check(path: string, metadata: Metadata): void {
    const service = this.serviceIn(metadata)
    if (this.#known.has(path)) this.admit(path, service, textIn(metadata, CALLER))
    else if (!FOR_ALL.has(path)) throw new Refused(status.UNIMPLEMENTED, `unknown rpc ${path}`)
  }

  /** The service that shows its credential; throws for a stranger. */
  serviceIn(metadata: Metadata): string {
    const service = this.#cluster.admits(textIn(metadata, CREDENTIAL))
    if (service === undefined)
      throw new Refused(status.UNAUTHENTICATED, 'no credential of this cluster')
    return service
  }

  /** On whose behalf a service calls an rpc: undefined where that is neither asked nor said. Throws unless it may call it, and for him. */
  admit(path: string, service: string, statement: string): Caller | undefined {
    const admission = this.#known.get(path)
    if (!admission?.services.includes(service)) {
      this.#log.warn({ rpc: path, service }, 'a service was refused an rpc')
      throw new Refused(status.PERMISSION_DENIED, `${service} may not call ${path}`)
    }
    if (statement === '' && !admission.asksCaller) return undefined
    const caller = this.#cluster.believe(statement, service, path)
    if (!caller) {
      this.#log.warn({ rpc: path, service }, 'a call was refused without a statement of who asks')
      throw new Refused(status.UNAUTHENTICATED, 'no genuine statement of who asks')
    }
    return caller
  }
}

/** The first value under a name; empty for none. */
export const textIn = (metadata: Metadata, name: string): string =>
  String(metadata.get(name)[0] ?? '')
