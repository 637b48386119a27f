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
 *        |<- {id 3, response, receipt} -------------|  the response hands something over
 *        |-- {id 3, received} --------------------->|  otherwise the handler takes it back after 1 s
 *        |<----------- load ------------------------|  twice a second while the server is busy
 *        |<----------- LEAVING ---------------------|  the server begins to stop: no further call
 *        |<- the responses still due ---------------|
 *        |-- their receipts ----------------------->|
 *        |------------ half-close ----------------->|
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
 * - The replica hangs: it sends nothing while calls wait, and does not answer a probe, an rpc that
 *   no server has (replica-probe.ts). New calls go to other replicas until it sends a message, and
 *   waiting calls that are safe to repeat (repeatable.ts) are sent to another one. If there is no
 *   other replica, calls wait up to their deadlines. When the replica continues, it reads calls and the
 *   messages that abandon them: it begins none that was abandoned (multiplexed-server.ts), unless that message has not
 *   arrived by then.
 * - No stream is open (start, restart of a replica): calls go as unary gRPC calls, which wait for a
 *   replica (client.ts). multiplexed-connection.ts opens the
 *   stream again.
 * - The replica is from a release without `Calls`, or without the rpc: it answers UNIMPLEMENTED, and
 *   the call is made as a unary gRPC call. Releases can be mixed in any order.
 * - A server stops: LEAVING moves new calls to other replicas before its listener closes, and the
 *   stream ends with the last response, so calls in flight are answered. The client closes its half
 *   after the last receipt: leases without one would be given to another worker and run twice. A
 *   client of an earlier release closes it at once and can send none; it keeps what it receives.
 * - A client is suspended when it has read a response that hands something over: its caller gets the
 *   response a turn of the event loop after the receipt, which has been sent by then. Only if other
 *   messages wait before the receipt, of which one is sent in each turn, it may not have been.
 *
 * Limits. Messages of one stream are sent in order, so a large request would delay the small ones
 * behind it: requests above MAX_STREAM_REQUEST_BYTES travel as unary calls. A stream is shared by all
 * clients of a process for the same replica and closed with the last of them.
 *
 * The service token is verified when the stream opens; a token that ends later does not end the
 * stream. The RPC policy and the on-behalf-of token are verified for every call. See ADR 9.
 *
 * Not chosen. More connections: the cost lies in the HTTP/2 stream of each call, not in the connection.
 * A batch form of each rpc: every service would need its own, and one caller's calls would wait for
 * the slowest of their batch. A transport without gRPC: replicas of earlier releases speak only gRPC.
 */
import { type ClientDuplexStream, status } from '@grpc/grpc-js'
import {
  type CallRequest,
  type CallResponse,
  type Failure,
  Notice,
} from '@windlass/proto/windlass/rpc/v1/calls'
import { countDependencyFailure } from '@windlass/runtime/dependency-failures'
import { startTimeLimit } from '@windlass/runtime/timeout'
import { CallLimit } from './call-limit.ts'
import { ReplicaProbe } from './replica-probe.ts'

/** Answered with UNIMPLEMENTED by every release. */
const PROBE_PATH = '/windlass.rpc.v1.Calls/Probe'
const PERCENT = 100
const EMPTY = Buffer.alloc(0)
const EMPTY_REQUEST: CallRequest = {
  id: 0,
  path: '',
  request: EMPTY,
  abandoned: false,
  caller: '',
  hurried: false,
  request_id: '',
  client_address: '',
  received: false,
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
  clientAddress: string
  /** W3C `traceparent`; absent: the call is not traced. */
  traceparent: string | undefined
  /** True if the call is safe to repeat and another replica would take it. */
  canMove: () => boolean
}

/** The replica does not answer, and the call can be sent to another one. */
export class UnresponsiveReplica extends Error {
  override readonly name = 'UnresponsiveReplica'
}

interface PendingCall {
  resolve(response: Buffer): void
  /** Resolves in the next turn of the event loop, when a receipt has been sent. */
  resolveNextTurn(response: Buffer): void
  reject(failure: Failure): void
  move(): void
}

/** One stream, from its opening to its end. */
export class MultiplexedStream {
  readonly #service: string
  readonly #stream: ClientDuplexStream<CallRequest, CallResponse>
  readonly #onEnd: () => void
  readonly #pending = new Map<number, PendingCall>()
  /** Ends the unary calls to the same replica that can be sent to another one. */
  readonly #unary = new Set<() => void>()
  readonly #probe = new ReplicaProbe({
    isWaiting: () => this.#pending.size + this.#unary.size > 0,
    isPolling: () => this.#unary.size === 0 && this.#pending.size === this.#longPolls,
    send: () => this.#send({ ...EMPTY_REQUEST, id: ++this.#lastId, path: PROBE_PATH }),
    onUnresponsive: () => this.#moveCalls(),
  })
  readonly #limit = new CallLimit()
  #lastId = 0
  /** Number of pending calls that can be asked for an early answer. */
  #longPolls = 0
  #isLeaving = false
  isOpen = false
  wasOpen = false

  /** `onEnd` runs when the stream takes no further calls; responses may still arrive. */
  constructor(
    service: string,
    stream: ClientDuplexStream<CallRequest, CallResponse>,
    onEnd: () => void,
  ) {
    this.#service = service
    this.#stream = stream
    this.#onEnd = onEnd
    stream.on('data', (response: CallResponse) => this.#onResponse(response))
    stream.on('error', () => this.#onLost())
    stream.on('end', () => this.#onLost())
  }

  /** Number of calls without an answer, besides long polls. */
  get calls(): number {
    return this.#pending.size - this.#longPolls + this.#unary.size
  }

  /** Number of calls in flight from which on batched calls go to other replicas. */
  get limit(): number {
    return this.#limit.calls
  }

  get isResponsive(): boolean {
    return this.#probe.isResponsive
  }

  /** Resolves with the encoded response, or rejects with a Failure or with UnresponsiveReplica. */
  call(outgoing: OutgoingCall): Promise<Buffer> {
    const { path, request, deadline, signal, answerNow, caller, canMove } = outgoing
    const id = ++this.#lastId
    return new Promise<Buffer>((resolve, reject) => {
      const release = () => {
        cancelDeadline()
        signal?.removeEventListener('abort', onAbort)
        answerNow?.removeEventListener('abort', onAnswerNow)
        this.#pending.delete(id)
        if (answerNow) this.#longPolls--
      }
      const abandon = (reason: Failure | Error) => {
        release()
        this.#send({ ...EMPTY_REQUEST, id, abandoned: true })
        this.#closeWhenIdle()
        reject(reason)
      }
      const onAbort = () => abandon(failure(status.CANCELLED, 'cancelled'))
      const onAnswerNow = () => this.#send({ ...EMPTY_REQUEST, id, hurried: true })
      const onDeadline = () => {
        countDependencyFailure(this.#service, 'timeout')
        abandon(failure(status.DEADLINE_EXCEEDED, 'deadline exceeded'))
        this.#probe.onTimeout()
      }
      const cancelDeadline = startTimeLimit(deadline - Date.now(), onDeadline)
      signal?.addEventListener('abort', onAbort, { once: true })
      answerNow?.addEventListener('abort', onAnswerNow, { once: true })
      if (answerNow) this.#longPolls++
      this.#pending.set(id, {
        resolve: (response) => {
          release()
          resolve(response)
        },
        resolveNextTurn: (response) => {
          release()
          setImmediate(resolve, response)
        },
        reject: (reason) => {
          release()
          reject(reason)
        },
        move: () => {
          if (canMove()) abandon(new UnresponsiveReplica())
        },
      })
      const { requestId: request_id, clientAddress: client_address, traceparent } = outgoing
      const origin = { caller, request_id, client_address, traceparent }
      this.#send({ ...EMPTY_REQUEST, id, path, request, ...origin })
      this.#probe.onSend()
    })
  }

  /** Watches a unary call to the same replica; `move` runs when the replica does not answer. */
  watchUnary(move: () => void): { release(): void } {
    this.#unary.add(move)
    this.#probe.onSend()
    return { release: () => this.#unary.delete(move) }
  }

  #moveCalls(): void {
    countDependencyFailure(this.#service, 'unresponsive')
    for (const { move } of [...this.#pending.values()]) move()
    for (const move of [...this.#unary]) move()
  }

  cancel(): void {
    this.#stream.cancel()
    this.#onLost()
  }

  #send(message: CallRequest): void {
    if (this.#stream.writable) this.#stream.write(message)
  }

  #onResponse({ id, body, receipt }: CallResponse): void {
    // It is sent to all clients: a replica that does not receive from this one sends it too.
    if (body?.$case !== 'load') this.#probe.onReceive()
    const call = this.#pending.get(id)
    // Without a receipt the server takes back what a response hands over, so the caller gets that after the receipt.
    if (receipt && call) this.#send({ ...EMPTY_REQUEST, id, received: true })
    if (body?.$case === 'notice') this.#onNotice(body.value)
    else if (body?.$case === 'load') this.#limit.adapt(body.value / PERCENT)
    else if (body?.$case === 'failure') call?.reject(body.value)
    else if (body && receipt) call?.resolveNextTurn(body.value)
    else if (body) call?.resolve(body.value)
    this.#closeWhenIdle()
  }

  #onNotice(notice: Notice): void {
    this.isOpen = notice === Notice.NOTICE_READY
    if (this.isOpen) this.wasOpen = true
    else {
      this.#isLeaving = true
      this.#onEnd()
    }
  }

  /** Closes this end of a stream whose server stops, after the receipts of all responses. */
  #closeWhenIdle(): void {
    if (this.#isLeaving && this.#pending.size === 0 && this.#stream.writable) this.#stream.end()
  }

  #onLost(): void {
    this.isOpen = false
    this.#probe.stop()
    for (const call of [...this.#pending.values()])
      call.reject(failure(status.UNAVAILABLE, 'the stream of calls broke'))
    this.#onEnd()
  }
}

const failure = (code: status, message: string): Failure => ({ code, message, fault: EMPTY })
