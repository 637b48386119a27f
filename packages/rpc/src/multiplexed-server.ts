import { type ServerDuplexStream, status } from '@grpc/grpc-js'
import type { Caller } from '@windlass/domain/caller'
import { type Answer, type Ask, type Failure, Notice } from '@windlass/proto/windlass/rpc/v1/calls'
import type { Call } from './call.ts'

/** An rpc as a carried call reaches it. */
export type Carried = (request: Buffer, call: Call) => Promise<Buffer>

export interface Carrying {
  rpcs: ReadonlyMap<string, Carried>
  /** The service at the other end. */
  service: string
  /** On whose behalf it may call this rpc; throws where it may not. */
  admit(path: string, statement: string): Caller | undefined
  failureOf(path: string, error: unknown): Failure
  /** The stream has ended, one way or another. */
  over(): void
}

/** The server's end of a stream that carries calls. Each is answered when it is done, in any order. */
export class CarriedCalls {
  readonly #stream: ServerDuplexStream<Ask, Answer>
  readonly #carrying: Carrying
  readonly #running = new Map<number, CarriedCall>()
  #hasAsked = true

  constructor(stream: ServerDuplexStream<Ask, Answer>, carrying: Carrying) {
    this.#stream = stream
    this.#carrying = carrying
    stream.on('data', (ask: Ask) => this.#hear(ask))
    stream.on('end', () => {
      this.#hasAsked = false
      this.#endWhenDone()
    })
    stream.on('cancelled', () => this.#abandonAll())
    stream.on('error', () => this.#abandonAll())
    this.#say({ id: 0, body: { $case: 'notice', value: Notice.NOTICE_READY } })
  }

  /** Asks the client to take its next calls elsewhere. */
  leave(): void {
    this.#say({ id: 0, body: { $case: 'notice', value: Notice.NOTICE_LEAVING } })
  }

  #hear(ask: Ask): void {
    if (ask.abandoned) this.#running.get(ask.id)?.abandon()
    else if (ask.hurried) this.#running.get(ask.id)?.urge()
    else void this.#answer(ask)
  }

  async #answer(ask: Ask): Promise<void> {
    const { id, request_id } = ask
    const call = new CarriedCall(this.#carrying.service, request_id)
    this.#running.set(id, call)
    const body = await this.#bodyOf(ask, call)
    this.#running.delete(id)
    if (!call.isAbandoned) this.#say({ id, body })
    this.#endWhenDone()
  }

  async #bodyOf({ path, request, caller }: Ask, call: CarriedCall): Promise<Answer['body']> {
    const { rpcs, admit, failureOf } = this.#carrying
    const rpc = rpcs.get(path)
    if (!rpc) return { $case: 'failure', value: unknown(path) }
    try {
      call.caller = admit(path, caller)
      return { $case: 'response', value: await rpc(request, call) }
    } catch (error) {
      return { $case: 'failure', value: failureOf(path, error) }
    }
  }

  #say(answer: Answer): void {
    if (!this.#stream.cancelled && !this.#stream.destroyed) this.#stream.write(answer)
  }

  #endWhenDone(): void {
    if (this.#hasAsked || this.#running.size > 0) return
    this.#stream.end()
    this.#carrying.over()
  }

  #abandonAll(): void {
    for (const call of this.#running.values()) call.abandon()
    this.#carrying.over()
  }
}

const unknown = (path: string): Failure => ({
  code: status.UNIMPLEMENTED,
  message: `unknown rpc ${path}`,
  fault: Buffer.alloc(0),
})

/** Most handlers never look at the signals, so they are made when one does. */
export class CarriedCall implements Call {
  readonly service: string
  readonly requestId: string
  caller: Caller | undefined
  #controller: AbortController | undefined
  #urging: AbortController | undefined
  #isUrged = false
  isAbandoned = false

  constructor(service: string, requestId: string) {
    this.service = service
    this.requestId = requestId
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.isAbandoned) this.#controller.abort()
    return this.#controller.signal
  }

  get hurry(): AbortSignal {
    this.#urging ??= new AbortController()
    if (this.#isUrged) this.#urging.abort()
    return this.#urging.signal
  }

  urge(): void {
    this.#isUrged = true
    this.#urging?.abort()
  }

  abandon(): void {
    this.isAbandoned = true
    this.#controller?.abort()
  }
}
