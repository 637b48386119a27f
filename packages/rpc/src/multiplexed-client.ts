/*
 * Multiplexed RPC: unary calls as messages on one long-lived stream.
 *
 * Problem. A unary call of grpc-js opens an HTTP/2 stream, with headers and trailers: 0.26 CPU-ms,
 * and 0.75 when it comes alone. A message on an open stream costs 0.04 to 0.05. One execution needs
 * five calls between services, each with a handler that costs less than its transport.
 *
 * Protocol (proto/windlass/rpc/v1/calls.proto). A client process keeps one bidirectional stream,
 * `Calls.Carry`, to each replica of a service. A message in each direction is one call:
 *
 *      client                                    server
 *        |------------ open, service token -------->|  authenticates once for the stream
 *        |<----------- READY -----------------------|
 *        |-- {id 1, path, request, caller} -------->|  authorizes each call by its RPC policy
 *        |-- {id 2, path, request, caller} -------->|
 *        |<- {id 2, response} ----------------------|  in the order of completion
 *        |-- {id 1, abandoned} -------------------->|  cancels; no response follows
 *        |<----------- LEAVING ---------------------|  the server begins to stop
 *        |------------ half-close ----------------->|  the client sends no further call here
 *        |<- the responses still due ---------------|
 *        |<----------- end -------------------------|
 *
 * Guarantees. A call has the semantics of a unary gRPC call: a deadline, cancellation, status
 * codes, a Fault as kind and details, at most one response, no order between calls. Deadlines are
 * kept by the client's clock only: when one passes, the client rejects the call and cancels it.
 * `answerNow` ends a long poll early; unlike a cancellation its response is delivered, so
 * nothing that the response hands over is lost.
 *
 * Failures.
 * - The stream breaks: calls in flight fail with UNAVAILABLE. Their outcome is unknown, as with a
 *   unary call whose connection breaks, so they are not repeated here. The owner of a call that is
 *   safe to repeat repeats it (`retry`).
 * - No stream is open (start, restart of a replica): calls go as unary gRPC calls, which wait for a
 *   replica (client.ts). The stream is opened again after REOPEN_MS, doubling to MAX_REOPEN_MS
 *   while it cannot be opened.
 * - The replica is of a release without `Calls`, or without the rpc: it answers UNIMPLEMENTED, and
 *   the call is made as a unary gRPC call. Releases can be mixed in any order.
 * - A server stops: LEAVING moves new calls to other replicas before its listener closes, and the
 *   stream ends with the last response, so calls in flight are answered.
 *
 * Limits. Messages of one stream are sent in order, so a large request would delay the small ones
 * behind it: requests above MAX_REQUEST_BYTES travel as unary calls. A stream is shared by all
 * clients of a process for the same replica and closed with the last of them.
 *
 * The service token is verified when the stream opens; a token that ends later does not end the
 * stream. The RPC policy and the on-behalf-of token are verified for every call. See ADR 9.
 */
import { type Client, type ClientDuplexStream, Metadata, status } from '@grpc/grpc-js'
import {
  type CallRequest,
  type CallResponse,
  CallsService,
  type Failure,
  Notice,
} from '@windlass/proto/windlass/rpc/v1/calls'
import { SERVICE_TOKEN_HEADER } from './call.ts'

const REOPEN_MS = 100
const MAX_REOPEN_MS = 1_000
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
  /** Milliseconds since 1970. */
  deadline: number
  signal: AbortSignal | undefined
  answerNow: AbortSignal | undefined
  /** On-behalf-of token; empty for none. */
  caller: string
  requestId: string
}

interface PendingCall {
  resolve(response: Buffer): void
  reject(failure: Failure): void
}

/** Keeps a stream open to one replica, for all clients of this process: opens it again after each loss. */
export class MultiplexedConnection {
  readonly #channel: Client
  readonly #serviceToken: () => string
  #current: MultiplexedStream | undefined
  #pauseMs = REOPEN_MS
  #reopening: NodeJS.Timeout | undefined

  constructor(channel: Client, serviceToken: () => string) {
    this.#channel = channel
    this.#serviceToken = serviceToken
    this.#open()
  }

  /** The stream, if it is open and the request is small enough for it. */
  streamFor(request: Buffer): MultiplexedStream | undefined {
    return this.#current?.isOpen && request.length <= MAX_REQUEST_BYTES ? this.#current : undefined
  }

  close(): void {
    const stream = this.#current
    this.#current = undefined
    clearTimeout(this.#reopening)
    stream?.cancel()
    this.#channel.close()
  }

  #open(): void {
    const { path, requestSerialize, responseDeserialize } = CallsService.carry
    const metadata = new Metadata()
    metadata.set(SERVICE_TOKEN_HEADER, this.#serviceToken())
    const duplex = this.#channel.makeBidiStreamRequest<CallRequest, CallResponse>(
      path,
      requestSerialize,
      responseDeserialize,
      metadata,
    )
    const stream = new MultiplexedStream(duplex, () => this.#onStreamEnd(stream))
    this.#current = stream
  }

  /** The pause grows only while no stream opens: a replica that restarts is back soon. */
  #onStreamEnd(stream: MultiplexedStream): void {
    if (stream !== this.#current) return
    this.#pauseMs = stream.wasOpen ? REOPEN_MS : Math.min(2 * this.#pauseMs, MAX_REOPEN_MS)
    this.#current = undefined
    this.#reopening = setTimeout(() => this.#open(), this.#pauseMs)
    this.#reopening.unref()
  }
}

/** One stream, from its opening to its end. */
export class MultiplexedStream {
  readonly #stream: ClientDuplexStream<CallRequest, CallResponse>
  readonly #onEnd: () => void
  readonly #pending = new Map<number, PendingCall>()
  #lastId = 0
  isOpen = false
  wasOpen = false

  /** `onEnd` runs when the stream takes no further calls; responses may still arrive. */
  constructor(stream: ClientDuplexStream<CallRequest, CallResponse>, onEnd: () => void) {
    this.#stream = stream
    this.#onEnd = onEnd
    stream.on('data', (response: CallResponse) => this.#onResponse(response))
    stream.on('error', () => this.#onLost())
    stream.on('end', () => this.#onLost())
  }

  /** Resolves with the encoded response, or rejects with a Failure. */
  call(outgoing: OutgoingCall): Promise<Buffer> {
    const { path, request, deadline, signal, answerNow, caller } = outgoing
    const id = ++this.#lastId
    return new Promise<Buffer>((resolve, reject) => {
      const release = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        answerNow?.removeEventListener('abort', onAnswerNow)
        this.#pending.delete(id)
      }
      const abandon = (code: status, message: string) => {
        release()
        this.#send({ ...EMPTY_REQUEST, id, abandoned: true })
        reject(failure(code, message))
      }
      const onAbort = () => abandon(status.CANCELLED, 'cancelled')
      const onAnswerNow = () => this.#send({ ...EMPTY_REQUEST, id, hurried: true })
      const onDeadline = () => abandon(status.DEADLINE_EXCEEDED, 'deadline exceeded')
      const timer = setTimeout(onDeadline, deadline - Date.now())
      signal?.addEventListener('abort', onAbort, { once: true })
      answerNow?.addEventListener('abort', onAnswerNow, { once: true })
      this.#pending.set(id, {
        resolve: (response) => {
          release()
          resolve(response)
        },
        reject: (reason) => {
          release()
          reject(reason)
        },
      })
      this.#send({ ...EMPTY_REQUEST, id, path, request, caller, request_id: outgoing.requestId })
    })
  }

  cancel(): void {
    this.#stream.cancel()
    this.#onLost()
  }

  #send(message: CallRequest): void {
    if (this.#stream.writable) this.#stream.write(message)
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
    for (const call of [...this.#pending.values()])
      call.reject(failure(status.UNAVAILABLE, 'the stream of calls broke'))
    this.#onEnd()
  }
}

const failure = (code: status, message: string): Failure => ({ code, message, fault: EMPTY })
