import { type Client, type ClientDuplexStream, Metadata, status } from '@grpc/grpc-js'
import {
  type Answer,
  type Ask,
  CallsService,
  type Failure,
  Notice,
} from '@windlass/proto/windlass/rpc/v1/calls'
import { CREDENTIAL } from './call.ts'
import type { Cluster } from './service-identity.ts'

const REOPEN_MS = 100
const MAX_REOPEN_MS = 1_000
/** Larger requests go by themselves: small ones would wait behind them. */
const MAX_REQUEST_BYTES = 65_536
const EMPTY = Buffer.alloc(0)
const NOTHING: Ask = {
  id: 0,
  path: '',
  request: EMPTY,
  abandoned: false,
  caller: '',
  hurried: false,
  request_id: '',
}

export interface Asking {
  path: string
  request: Buffer
  deadline: number
  signal: AbortSignal | undefined
  hurry: AbortSignal | undefined
  /** The statement of who is asking; empty where there is none. */
  caller: string
  requestId: string
}

interface Waiting {
  resolve(response: Buffer): void
  reject(failure: Failure): void
}

/**
 * The client's end of the stream that carries calls to one address, shared by all clients of a
 * process. It opens at the first use and again after each loss; while it is not open, calls go by
 * themselves. What was asked when it breaks is lost as a broken call is: nobody knows its outcome.
 */
export class Carrier {
  readonly #channel: Client
  readonly #credential: () => string
  #line: Line | undefined
  #pauseMs = REOPEN_MS
  #reopening: NodeJS.Timeout | undefined

  constructor(channel: Client, credential: () => string) {
    this.#channel = channel
    this.#credential = credential
    this.#open()
  }

  /** The open stream, if there is one that may be asked this. */
  lineFor(request: Buffer): Line | undefined {
    return this.#line?.isOpen && request.length <= MAX_REQUEST_BYTES ? this.#line : undefined
  }

  close(): void {
    const line = this.#line
    this.#line = undefined
    clearTimeout(this.#reopening)
    line?.hangUp()
    this.#channel.close()
  }

  #open(): void {
    const { path, requestSerialize, responseDeserialize } = CallsService.carry
    const shown = new Metadata()
    shown.set(CREDENTIAL, this.#credential())
    const stream = this.#channel.makeBidiStreamRequest<Ask, Answer>(
      path,
      requestSerialize,
      responseDeserialize,
      shown,
    )
    const line = new Line(stream, () => this.#over(line))
    this.#line = line
  }

  /** A server that leaves may be back in a moment, and one that is gone too. */
  #over(line: Line): void {
    if (line !== this.#line) return
    this.#pauseMs = line.wasOpen ? REOPEN_MS : Math.min(2 * this.#pauseMs, MAX_REOPEN_MS)
    this.#line = undefined
    this.#reopening = setTimeout(() => this.#open(), this.#pauseMs)
    this.#reopening.unref()
  }
}

/** One such stream, from its opening to its end. */
export class Line {
  readonly #stream: ClientDuplexStream<Ask, Answer>
  readonly #over: () => void
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  isOpen = false
  wasOpen = false

  /** `over` is told when nothing can be asked any more. */
  constructor(stream: ClientDuplexStream<Ask, Answer>, over: () => void) {
    this.#stream = stream
    this.#over = over
    stream.on('data', (answer: Answer) => this.#hear(answer))
    stream.on('error', () => this.#broken())
    stream.on('end', () => this.#broken())
  }

  /** Resolves with the response, or rejects with a Failure. */
  ask(asking: Asking): Promise<Buffer> {
    const { path, request, deadline, signal, hurry, caller, requestId: request_id } = asking
    const id = ++this.#lastId
    return new Promise<Buffer>((resolve, reject) => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        hurry?.removeEventListener('abort', urge)
        this.#waiting.delete(id)
      }
      const abandon = (code: status, message: string) => {
        done()
        this.#say({ ...NOTHING, id, abandoned: true })
        reject(failure(code, message))
      }
      const cancel = () => abandon(status.CANCELLED, 'cancelled')
      const urge = () => this.#say({ ...NOTHING, id, hurried: true })
      const late = () => abandon(status.DEADLINE_EXCEEDED, 'deadline exceeded')
      const timer = setTimeout(late, deadline - Date.now())
      signal?.addEventListener('abort', cancel, { once: true })
      hurry?.addEventListener('abort', urge, { once: true })
      this.#waiting.set(id, {
        resolve: (response) => {
          done()
          resolve(response)
        },
        reject: (reason) => {
          done()
          reject(reason)
        },
      })
      this.#say({ ...NOTHING, id, path, request, caller, request_id })
    })
  }

  hangUp(): void {
    this.#stream.cancel()
    this.#broken()
  }

  #say(ask: Ask): void {
    if (this.#stream.writable) this.#stream.write(ask)
  }

  #hear({ id, body }: Answer): void {
    if (body?.$case === 'notice') this.#heed(body.value)
    else if (body?.$case === 'response') this.#waiting.get(id)?.resolve(body.value)
    else if (body) this.#waiting.get(id)?.reject(body.value)
  }

  #heed(notice: Notice): void {
    this.isOpen = notice === Notice.NOTICE_READY
    if (this.isOpen) this.wasOpen = true
    else {
      this.#stream.end()
      this.#over()
    }
  }

  #broken(): void {
    this.isOpen = false
    for (const waiting of [...this.#waiting.values()])
      waiting.reject(failure(status.UNAVAILABLE, 'the stream of calls broke'))
    this.#over()
  }
}

const failure = (code: status, message: string): Failure => ({ code, message, fault: EMPTY })

interface Shared {
  carrier: Carrier
  users: number
}

const shared = new WeakMap<Cluster, Map<string, Shared>>()

/** A replica of a service. */
export interface Replica {
  service: string
  address: string
}

const nameOf = ({ service, address }: Replica) => `${service} ${address}`

/** The carrier to a replica; whoever borrows it gives it back. */
export function borrowCarrier(replica: Replica, cluster: Cluster, channel: () => Client): Carrier {
  const carriers = shared.get(cluster) ?? new Map<string, Shared>()
  shared.set(cluster, carriers)
  const known = carriers.get(nameOf(replica))
  if (known) {
    known.users++
    return known.carrier
  }
  const carrier = new Carrier(channel(), () => cluster.credential(replica.service))
  carriers.set(nameOf(replica), { carrier, users: 1 })
  return carrier
}

export function returnCarrier(replica: Replica, cluster: Cluster): void {
  const carriers = shared.get(cluster)
  const known = carriers?.get(nameOf(replica))
  if (!known || --known.users > 0) return
  carriers?.delete(nameOf(replica))
  known.carrier.close()
}
