import { type Client, Metadata } from '@grpc/grpc-js'
import {
  type CallRequest,
  type CallResponse,
  CallsService,
} from '@windlass/proto/windlass/rpc/v1/calls'
import { RECEIPTS_HEADER, SERVICE_TOKEN_HEADER, STARTED_HEADER, VERSION_HEADER } from './call.ts'
import { MultiplexedStream } from './multiplexed-client.ts'
import type { ServiceIdentity } from './service-identity.ts'

const REOPEN_MS = 100
const MAX_REOPEN_MS = 1_000

/**
 * Keeps a stream open to one replica, for all clients of this process, and opens it again after each loss.
 */
export class MultiplexedConnection {
  readonly #service: string
  readonly #channel: Client
  readonly #identity: Pick<ServiceIdentity, 'serviceToken' | 'peers'>
  #forgetVersion: (() => void) | undefined
  #current: MultiplexedStream | undefined
  #pauseMs = REOPEN_MS
  #reopening: NodeJS.Timeout | undefined
  /** Time at which the replica started, in milliseconds since 1970; 0 for one of a release that does not say it. */
  startedMs = 0

  constructor(
    service: string,
    channel: Client,
    identity: Pick<ServiceIdentity, 'serviceToken' | 'peers'>,
  ) {
    this.#service = service
    this.#channel = channel
    this.#identity = identity
    this.#open()
  }

  /** The stream, if it is open. */
  get stream(): MultiplexedStream | undefined {
    return this.#current?.isOpen ? this.#current : undefined
  }

  /** True if the stream is open and the replica answers. */
  get isResponsive(): boolean {
    return this.stream?.isResponsive === true
  }

  /** Number of calls that wait for an answer, besides long polls. */
  get calls(): number {
    return this.stream?.calls ?? 0
  }

  /** Number of calls in flight from which on batched calls go to other replicas. */
  get limit(): number {
    return this.stream?.limit ?? 0
  }

  /** Channel to the same replica, for unary calls. */
  get channel(): Client {
    return this.#channel
  }

  close(): void {
    const stream = this.#current
    this.#current = undefined
    this.#forgetVersion?.()
    clearTimeout(this.#reopening)
    stream?.cancel()
    this.#channel.close()
  }

  #open(): void {
    const { path, requestSerialize, responseDeserialize } = CallsService.carry
    const metadata = new Metadata()
    const { peers } = this.#identity
    metadata.set(SERVICE_TOKEN_HEADER, this.#identity.serviceToken(this.#service))
    metadata.set(RECEIPTS_HEADER, '1')
    if (peers) metadata.set(VERSION_HEADER, peers.version)
    const duplex = this.#channel.makeBidiStreamRequest<CallRequest, CallResponse>(
      path,
      requestSerialize,
      responseDeserialize,
      metadata,
    )
    const stream = new MultiplexedStream(this.#service, duplex, () => this.#onStreamEnd(stream))
    this.#current = stream
    duplex.once('metadata', (answered: Metadata) => {
      if (stream !== this.#current) return
      const [version] = answered.get(VERSION_HEADER)
      this.startedMs = Number(answered.get(STARTED_HEADER)[0] ?? 0)
      this.#forgetVersion = peers?.add(this.#service, version?.toString())
    })
  }

  /** The pause grows only while no stream opens: a replica that restarts is back within moments. */
  #onStreamEnd(stream: MultiplexedStream): void {
    if (stream !== this.#current) return
    this.#pauseMs = stream.wasOpen ? REOPEN_MS : Math.min(2 * this.#pauseMs, MAX_REOPEN_MS)
    this.#current = undefined
    this.#forgetVersion?.()
    this.#forgetVersion = undefined
    this.#reopening = setTimeout(() => this.#open(), this.#pauseMs)
    this.#reopening.unref()
  }
}
