import type { Duplex } from 'node:stream'
import { newId } from '../ids.ts'
import { LocalBus } from '../nats/local-bus.ts'

/** One call to a service of the same process, as it would be sent to another one. */
export interface LocalCall {
  path: string
  request: Buffer
  serviceToken: string
  /** On-behalf-of token; empty for none. */
  caller: string
  requestId: string
  clientAddress: string
  /** W3C `traceparent`; absent: the call is not traced. */
  traceparent: string | undefined
}

/** A call that a service of the same process executes. */
export interface RunningCall {
  /** Resolves to the encoded response, or rejects with the failure that a client would receive. */
  readonly response: Promise<Buffer>
  cancel(): void
  /** Requests an early answer, with what there is. */
  requestAnswer(): void
}

/** The RPC interface of a service, for calls from the same process. */
export interface LocalServer {
  start(call: LocalCall): RunningCall
}

/**
 * Shared parts of the services of one process, if several run in it (`npm start -- --single-process`): the
 * RPC interfaces of those that listen, the bus of their best-effort messages, and connections for worker streams.
 */
export class Colocation {
  /** Identifies this process in messages that it sends to others. */
  readonly id = newId()
  readonly bus = new LocalBus()
  /** By the name of the service; absent while it does not accept calls. */
  readonly servers = new Map<string, LocalServer>()
  /** Opens a connection to the server of worker streams without a socket, while that listens. */
  connectToStreams: (() => Duplex | undefined) | undefined
  readonly #services: ReadonlySet<string>

  /** `services` names all services of this process. */
  constructor(services: readonly string[]) {
    this.#services = new Set(services)
  }

  /** True if a service runs in this process, also before it accepts calls. */
  has(service: string): boolean {
    return this.#services.has(service)
  }
}
