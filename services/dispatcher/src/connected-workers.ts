import type { Metrics } from './domain/facts.ts'
import { Load } from './domain/load.ts'
import type { Capabilities } from './domain/matching.ts'
import type { CandidateWorker } from './domain/offers.ts'
import type { EndReason, WorkerStream } from './worker-stream.ts'

/** What may change about a worker while its stream is open. */
export interface WorkerState {
  session_id: string
  /** Differs whenever the rest did. */
  changed_at: string
  capacity: number
  healthy: boolean
  capabilities: Capabilities
}

/** How long the same cancellation is not repeated on one stream. */
const CANCEL_RESEND_MS = 5_000

/** How long the word of another process counts; by then it is in the database, or was an old one. */
const SUSPICION_MS = 2_000

/** One live stream of a worker. */
export class ConnectedWorker implements CandidateWorker {
  readonly name: string
  readonly connection_generation: number
  readonly stream: WorkerStream
  readonly #cancelsSent = new Map<string, number>()
  readonly load = new Load()
  #state: WorkerState
  #suspicion: { changed_at: string; until_ms: number } | undefined
  metrics: Metrics = {}

  constructor(
    name: string,
    connection_generation: number,
    state: WorkerState,
    stream: WorkerStream,
  ) {
    this.name = name
    this.connection_generation = connection_generation
    this.stream = stream
    this.#state = state
  }

  get session_id(): string {
    return this.#state.session_id
  }

  get changed_at(): string {
    return this.#state.changed_at
  }

  get capacity(): number {
    return this.#state.capacity
  }

  get isHealthy(): boolean {
    return this.#state.healthy && !this.#isSuspected
  }

  get capabilities(): Capabilities {
    return this.#state.capabilities
  }

  /** Takes in what is stored about the worker by now. */
  applyRecord(state: WorkerState): void {
    this.#state = state
  }

  /** Takes in what its pong says, ahead of the database. */
  setHealthFromHeartbeat(healthy: boolean): void {
    this.#suspicion = undefined
    this.#state = { ...this.#state, healthy }
  }

  /** Takes in that it told another process it is not healthy, until the database says what became of that. */
  suspectUnhealthy(session_id: string, now_ms: number): void {
    if (session_id !== this.session_id) return
    this.#suspicion = { changed_at: this.changed_at, until_ms: now_ms + SUSPICION_MS }
  }

  get #isSuspected(): boolean {
    const { changed_at, until_ms } = this.#suspicion ?? { changed_at: '', until_ms: 0 }
    return changed_at === this.changed_at && performance.now() < until_ms
  }

  get used(): number {
    return this.load.used
  }

  get isWritable(): boolean {
    return this.stream.isWritable
  }

  /** Whether this cancellation is to be told now; if so it counts as told. */
  shouldSendCancel(execution_id: string, now_ms: number): boolean {
    for (const [id, sent_ms] of this.#cancelsSent) {
      if (now_ms - sent_ms < CANCEL_RESEND_MS) break
      this.#cancelsSent.delete(id)
    }
    if (this.#cancelsSent.has(execution_id)) return false
    this.#cancelsSent.set(execution_id, now_ms)
    return true
  }
}

/** The live streams of this process, at most one for each worker: the one of the highest generation. */
export class ConnectedWorkers {
  readonly #byName = new Map<string, ConnectedWorker>()
  /** Another number whenever a worker came or left, or something about one changed. */
  fleetVersion = 0
  readonly #onChange: () => void

  /** `onChange` runs after a worker came or left, or something about one changed. */
  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get size(): number {
    return this.#byName.size
  }

  get(name: string): ConnectedWorker | undefined {
    return this.#byName.get(name)
  }

  /** Takes a stream in, closing an older one of the worker. Closes and refuses it if a newer one is there. */
  add(worker: ConnectedWorker): boolean {
    const other = this.#byName.get(worker.name)
    if (other && other.connection_generation > worker.connection_generation) {
      worker.stream.end('superseded')
      return false
    }
    this.#byName.set(worker.name, worker)
    this.bumpFleetVersion()
    other?.stream.end('superseded')
    return true
  }

  /** Takes in what is stored about a worker by now, if its stream is here. */
  applyRecord(name: string, state: WorkerState): void {
    this.#byName.get(name)?.applyRecord(state)
    this.bumpFleetVersion()
  }

  /** Something about a worker is not as it was. */
  bumpFleetVersion(): void {
    this.fleetVersion++
    this.#onChange()
  }

  /** Closes the worker's stream if it is older than this generation. */
  closeOlder(name: string, connection_generation: number, reason: EndReason): void {
    const worker = this.#byName.get(name)
    if (worker && worker.connection_generation < connection_generation) worker.stream.end(reason)
  }

  /** Forgets a stream that has ended; answers whether it was the worker's latest here. */
  remove(worker: ConnectedWorker): boolean {
    if (this.#byName.get(worker.name) !== worker) return false
    this.#byName.delete(worker.name)
    this.bumpFleetVersion()
    return true
  }

  /** Every worker once, beginning at a place that moves on, so that no worker is always last. */
  *iterateFrom(start: number): Generator<ConnectedWorker> {
    const all = [...this.#byName.values()]
    for (let i = 0; i < all.length; i++) {
      const worker = all[(start + i) % all.length]
      if (worker) yield worker
    }
  }

  [Symbol.iterator](): Iterator<ConnectedWorker> {
    return this.#byName.values()
  }
}
