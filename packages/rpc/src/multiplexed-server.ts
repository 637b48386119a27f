import { setTimeout as pause } from 'node:timers/promises'
import { type ServerDuplexStream, status } from '@grpc/grpc-js'
import type { Caller } from '@windlass/domain/caller'
import {
  type CallRequest,
  type CallResponse,
  type Failure,
  Notice,
} from '@windlass/proto/windlass/rpc/v1/calls'
import type { Call } from './call.ts'

/** A receipt is due within RECEIPT_CHECKS * RECEIPT_CHECK_MS. */
const RECEIPT_CHECK_MS = 250
const RECEIPT_CHECKS = 4
/**
 * Time in which the messages behind a call are read after this process was suspended: its client may have abandoned the
 * call long ago, and must not find later that it has taken effect.
 */
const CATCH_UP_MS = 100

/** Handler of one rpc, from encoded request to encoded response. */
export type RpcHandler = (request: Buffer, call: Call) => Promise<Buffer>

export interface MultiplexedServerDeps {
  rpcs: ReadonlyMap<string, RpcHandler>
  /** The calling service, authenticated when the stream opened. */
  service: string
  /** True if the client confirms responses on request. */
  givesReceipts: boolean
  /** Applies the RPC policy; answers the caller or throws RpcDenied. */
  authorize(path: string, callerToken: string): Caller | undefined
  failureOf(path: string, error: unknown, traceparent: string | undefined): Failure
  /** True if what is read now may have waited, because this process was suspended. */
  mayBeLate(): boolean
  /** Runs with each call, by the path of its rpc. */
  onCall(path: string): void
  /** Runs when the stream has ended or broken; may run more than once. */
  onEnd(): void
}

/** The server's end of a stream of calls. Each call is answered on completion, in any order. */
export class MultiplexedServerStream {
  readonly #stream: ServerDuplexStream<CallRequest, CallResponse>
  readonly #deps: MultiplexedServerDeps
  readonly #running = new Map<number, MultiplexedCall>()
  /** Callbacks for responses whose receipts do not arrive, by id of the call. */
  readonly #unconfirmed = new Map<number, () => void>()
  #isClientSending = true

  constructor(
    stream: ServerDuplexStream<CallRequest, CallResponse>,
    carrying: MultiplexedServerDeps,
  ) {
    this.#stream = stream
    this.#deps = carrying
    stream.on('data', (ask: CallRequest) => this.#onRequest(ask))
    stream.on('end', () => {
      this.#isClientSending = false
      // A client of an earlier release: it reads its responses but can no longer send receipts.
      this.#unconfirmed.clear()
      this.#endWhenDone()
    })
    stream.on('cancelled', () => this.#cancelAll())
    stream.on('error', () => this.#cancelAll())
    this.#send({ id: 0, body: { $case: 'notice', value: Notice.NOTICE_READY }, receipt: false })
  }

  /** Sends the notice after which the client sends new calls to other replicas. */
  announceShutdown(): void {
    this.#send({ id: 0, body: { $case: 'notice', value: Notice.NOTICE_LEAVING }, receipt: false })
  }

  /** Reports how busy this process is. */
  sendLoad(percent: number): void {
    this.#send({ id: 0, body: { $case: 'load', value: percent }, receipt: false })
  }

  #onRequest(ask: CallRequest): void {
    if (ask.received) this.#unconfirmed.delete(ask.id)
    else if (ask.abandoned) this.#abandon(ask.id)
    else if (ask.hurried) this.#running.get(ask.id)?.requestAnswer()
    else void this.#answer(ask)
  }

  #abandon(id: number): void {
    this.#running.get(id)?.cancel()
    this.#giveUp(id)
  }

  async #answer(ask: CallRequest): Promise<void> {
    const { id } = ask
    this.#deps.onCall(ask.path)
    const call = new MultiplexedCall(this.#deps, ask)
    this.#running.set(id, call)
    if (this.#deps.mayBeLate()) await pause(CATCH_UP_MS)
    const body = call.isCancelled ? undefined : await this.#run(ask, call)
    this.#running.delete(id)
    if (call.lost) this.#sendForReceipt({ id, body, receipt: true }, call)
    else if (!call.isCancelled) this.#send({ id, body, receipt: false })
    this.#endWhenDone()
  }

  #sendForReceipt(answer: CallResponse, { lost, isCancelled }: MultiplexedCall): void {
    const { id } = answer
    if (isCancelled) lost?.()
    if (isCancelled || !lost) return
    if (this.#isClientSending) this.#unconfirmed.set(id, lost)
    this.#send(answer)
    this.#awaitReceipt(id, RECEIPT_CHECKS)
  }

  /**
   * Only checks that run in time count: a late check shows that this process was itself suspended or busy.
   */
  #awaitReceipt(id: number, checksLeft: number): void {
    if (checksLeft === 0) this.#giveUp(id)
    if (checksLeft === 0) return
    const begunMs = performance.now()
    const check = () => {
      if (!this.#unconfirmed.has(id)) return
      const wasLate = performance.now() - begunMs > 2 * RECEIPT_CHECK_MS
      this.#awaitReceipt(id, wasLate ? RECEIPT_CHECKS : checksLeft - 1)
    }
    setTimeout(() => setImmediate(check), RECEIPT_CHECK_MS).unref()
  }

  #giveUp(id: number): void {
    const lost = this.#unconfirmed.get(id)
    this.#unconfirmed.delete(id)
    lost?.()
  }

  async #run(
    { path, request, caller }: CallRequest,
    call: MultiplexedCall,
  ): Promise<CallResponse['body']> {
    const { rpcs, authorize, failureOf } = this.#deps
    const rpc = rpcs.get(path)
    if (!rpc) return { $case: 'failure', value: unknownRpc(path) }
    try {
      call.caller = authorize(path, caller)
      return { $case: 'response', value: await rpc(request, call) }
    } catch (error) {
      return { $case: 'failure', value: failureOf(path, error, call.traceparent) }
    }
  }

  #send(answer: CallResponse): void {
    if (!this.#stream.cancelled && !this.#stream.destroyed) this.#stream.write(answer)
  }

  #endWhenDone(): void {
    if (this.#isClientSending || this.#running.size > 0) return
    this.#stream.end()
    this.#deps.onEnd()
  }

  #cancelAll(): void {
    for (const call of this.#running.values()) call.cancel()
    for (const id of [...this.#unconfirmed.keys()]) this.#giveUp(id)
    this.#deps.onEnd()
  }
}

const unknownRpc = (path: string): Failure => ({
  code: status.UNIMPLEMENTED,
  message: `unknown rpc ${path}`,
  fault: Buffer.alloc(0),
})

/** One call on the stream. Most handlers ignore the signals, so each signal is created at its first use. */
export class MultiplexedCall implements Call {
  service: string
  readonly requestId: string
  readonly clientAddress: string
  readonly traceparent: string | undefined
  caller: Caller | undefined
  #controller: AbortController | undefined
  #answerNow: AbortController | undefined
  #isAnswerRequested = false
  isCancelled = false
  /** Called if the caller does not get the response. */
  lost: (() => void) | undefined
  readonly #givesReceipts: boolean

  constructor(
    { service, givesReceipts }: Pick<MultiplexedServerDeps, 'service' | 'givesReceipts'>,
    origin: Pick<CallRequest, 'request_id' | 'client_address' | 'traceparent'>,
  ) {
    this.service = service
    this.#givesReceipts = givesReceipts
    this.requestId = origin.request_id
    this.clientAddress = origin.client_address
    this.traceparent = origin.traceparent
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.isCancelled) this.#controller.abort()
    return this.#controller.signal
  }

  get answerNow(): AbortSignal {
    this.#answerNow ??= new AbortController()
    if (this.#isAnswerRequested) this.#answerNow.abort()
    return this.#answerNow.signal
  }

  onLost(run: () => void): void {
    if (this.#givesReceipts) this.lost = run
  }

  requestAnswer(): void {
    this.#isAnswerRequested = true
    this.#answerNow?.abort()
  }

  cancel(): void {
    this.isCancelled = true
    this.#controller?.abort()
  }
}
