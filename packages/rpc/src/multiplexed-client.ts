import { type Client, type ClientDuplexStream, Metadata, status } from '@grpc/grpc-js'
import {
  type CallRequest,
  type CallResponse,
  CallsService,
  type Failure,
  Notice,
} from '@windlass/proto/windlass/rpc/v1/calls'
import { SERVICE_TOKEN_HEADER } from './call.ts'
import type { ServiceIdentity } from './service-identity.ts'

const REOPEN_MS = 100
const MAX_REOPEN_MS = 1_000
/** Larger requests go by themselves: small ones would wait behind them. */
const MAX_REQUEST_BYTES = 65_536
const EMPTY = Buffer.alloc(0)
const EMPTY_REQUEST: CallRequest = {
  id: 0,
  path: '',
  request: EMPTY,
  abandoned: false,
  caller: '',
  hurried: false,
  request_id: '',
}

export interface OutgoingCall {
  path: string
  request: Buffer
  deadline: number
  signal: AbortSignal | undefined
  answerNow: AbortSignal | undefined
  /** The statement of who is asking; empty where there is none. */
  caller: string
  requestId: string
}

interface PendingCall {
  resolve(response: Buffer): void
  reject(failure: Failure): void
}

/**
 * The client's end of the stream that carries calls to one address, shared by all clients of a
 * process. It opens at the first use and again after each loss; while it is not open, calls go by
 * themselves. What was asked when it breaks is lost as a broken call is: nobody knows its outcome.
 */
export class MultiplexedConnection {
  readonly #channel: Client
  readonly #serviceToken: () => string
  #current: MultiplexedStream | undefined
  #pauseMs = REOPEN_MS
  #reopening: NodeJS.Timeout | undefined

  constructor(channel: Client, credential: () => string) {
    this.#channel = channel
    this.#serviceToken = credential
    this.#open()
  }

  /** The open stream, if there is one that may be asked this. */
  streamFor(request: Buffer): MultiplexedStream | undefined {
    return this.#current?.isOpen && request.length <= MAX_REQUEST_BYTES ? this.#current : undefined
  }

  close(): void {
    const line = this.#current
    this.#current = undefined
    clearTimeout(this.#reopening)
    line?.cancel()
    this.#channel.close()
  }

  #open(): void {
    const { path, requestSerialize, responseDeserialize } = CallsService.carry
    const shown = new Metadata()
    shown.set(SERVICE_TOKEN_HEADER, this.#serviceToken())
    const stream = this.#channel.makeBidiStreamRequest<CallRequest, CallResponse>(
      path,
      requestSerialize,
      responseDeserialize,
      shown,
    )
    const line = new MultiplexedStream(stream, () => this.#onStreamEnd(line))
    this.#current = line
  }

  /** A server that leaves may be back in a moment, and one that is gone too. */
  #onStreamEnd(line: MultiplexedStream): void {
    if (line !== this.#current) return
    this.#pauseMs = line.wasOpen ? REOPEN_MS : Math.min(2 * this.#pauseMs, MAX_REOPEN_MS)
    this.#current = undefined
    this.#reopening = setTimeout(() => this.#open(), this.#pauseMs)
    this.#reopening.unref()
  }
}

/** One such stream, from its opening to its end. */
export class MultiplexedStream {
  readonly #stream: ClientDuplexStream<CallRequest, CallResponse>
  readonly #onEnd: () => void
  readonly #pending = new Map<number, PendingCall>()
  #lastId = 0
  isOpen = false
  wasOpen = false

  /** `over` is told when nothing can be asked any more. */
  constructor(stream: ClientDuplexStream<CallRequest, CallResponse>, over: () => void) {
    this.#stream = stream
    this.#onEnd = over
    stream.on('data', (answer: CallResponse) => this.#onResponse(answer))
    stream.on('error', () => this.#onLost())
    stream.on('end', () => this.#onLost())
  }

  /** Resolves with the response, or rejects with a Failure. */
  call(asking: OutgoingCall): Promise<Buffer> {
    const { path, request, deadline, signal, answerNow, caller, requestId: request_id } = asking
    const id = ++this.#lastId
    return new Promise<Buffer>((resolve, reject) => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        answerNow?.removeEventListener('abort', urge)
        this.#pending.delete(id)
      }
      const abandon = (code: status, message: string) => {
        done()
        this.#send({ ...EMPTY_REQUEST, id, abandoned: true })
        reject(failure(code, message))
      }
      const cancel = () => abandon(status.CANCELLED, 'cancelled')
      const urge = () => this.#send({ ...EMPTY_REQUEST, id, hurried: true })
      const late = () => abandon(status.DEADLINE_EXCEEDED, 'deadline exceeded')
      const timer = setTimeout(late, deadline - Date.now())
      signal?.addEventListener('abort', cancel, { once: true })
      answerNow?.addEventListener('abort', urge, { once: true })
      this.#pending.set(id, {
        resolve: (response) => {
          done()
          resolve(response)
        },
        reject: (reason) => {
          done()
          reject(reason)
        },
      })
      this.#send({ ...EMPTY_REQUEST, id, path, request, caller, request_id })
    })
  }

  cancel(): void {
    this.#stream.cancel()
    this.#onLost()
  }

  #send(ask: CallRequest): void {
    if (this.#stream.writable) this.#stream.write(ask)
  }

  #onResponse({ id, body }: CallResponse): void {
    if (body?.$case === 'notice') this.#onNotice(body.value)
    else if (body?.$case === 'response') this.#pending.get(id)?.resolve(body.value)
    else if (body) this.#pending.get(id)?.reject(body.value)
  }

  #onNotice(notice: Notice): void {
    this.isOpen = notice === Notice.NOTICE_READY
    if (this.isOpen) this.wasOpen = true
    else {
      this.#stream.end()
      this.#onEnd()
    }
  }

  #onLost(): void {
    this.isOpen = false
    for (const waiting of [...this.#pending.values()])
      waiting.reject(failure(status.UNAVAILABLE, 'the stream of calls broke'))
    this.#onEnd()
  }
}

const failure = (code: status, message: string): Failure => ({ code, message, fault: EMPTY })

interface SharedConnection {
  connection: MultiplexedConnection
  users: number
}

const shared = new WeakMap<ServiceIdentity, Map<string, SharedConnection>>()

/** A replica of a service. */
export interface Replica {
  service: string
  address: string
}

const keyOf = ({ service, address }: Replica) => `${service} ${address}`

/** The carrier to a replica; whoever borrows it gives it back. */
export function acquireConnection(
  replica: Replica,
  cluster: ServiceIdentity,
  channel: () => Client,
): MultiplexedConnection {
  const carriers = shared.get(cluster) ?? new Map<string, SharedConnection>()
  shared.set(cluster, carriers)
  const known = carriers.get(keyOf(replica))
  if (known) {
    known.users++
    return known.connection
  }
  const carrier = new MultiplexedConnection(channel(), () => cluster.serviceToken(replica.service))
  carriers.set(keyOf(replica), { connection: carrier, users: 1 })
  return carrier
}

export function releaseConnection(replica: Replica, cluster: ServiceIdentity): void {
  const carriers = shared.get(cluster)
  const known = carriers?.get(keyOf(replica))
  if (!known || --known.users > 0) return
  carriers?.delete(keyOf(replica))
  known.connection.close()
}
