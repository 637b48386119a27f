import type { Metrics } from '../domain/facts.ts'
import { KeptWorkflows, type WorkflowForm } from '../domain/kept-workflows.ts'
import { Load } from '../domain/load.ts'
import type { Capabilities } from '../domain/matching.ts'
import type { CandidateWorker } from '../domain/offers.ts'
import type { Connection } from '../store/workers.ts'
import type { EndReason, WorkerStream } from './worker-stream.ts'

/**
 * Connected workers: the worker streams that this process holds, and what may be sent on them.
 *
 * Problem. A worker opens one long-lived event stream through any gateway, which connects it to any
 * dispatcher. Streams break without notice, a worker may reconnect elsewhere before the old connection
 * is known to be dead, a reader may stop reading, and a dispatcher may be stopped at any time. Work must
 * go to the newest stream of a healthy worker with a free slot, and a slow or dead reader must cost
 * neither memory nor the work of others.
 *
 *   GET /workers/w/connect
 *        │            store/streams.ts: one UPDATE of the row of w
 *        ▼                connection_generation 6 → 7, replica_id = this process
 *   dispatcher A ──────────────────────────────────────────► PostgreSQL
 *        │  workers.w  superseded(7)        (core NATS)          │ changed_at
 *        └──────────────────► dispatcher B: stream 6 ends        │
 *                             dispatcher C: missed the signal ◄──┘ tick, within 1 s
 *
 * Connection generations. The row lock of the UPDATE orders all connects of a name, so the database
 * decides which stream is the newest. Registration by another process and eviction raise the number too.
 * A stream whose generation is lower than the stored one is closed: at once in the same process (`add`),
 * by the signal elsewhere, and by the tick of each dispatcher where the signal was lost (`closeOlder`).
 * A late disconnect of an older stream changes nothing: store and map compare the generation first.
 *
 * State. `WorkerState` is a copy of the stored row and record, replaced as a whole by registry-sync.ts.
 * Pongs change the health in the copy before the database knows it, since work must stop at once; a pong
 * that another dispatcher received arrives as a suspicion that lapses after SUSPICION_MS, by when the
 * stored row confirms or contradicts it. `fleetVersion` grows with every change: matching keeps results
 * for one version (domain/offers.ts), and the long poll renews its offers.
 *
 * Backpressure (worker-stream.ts). Frames are cut into 64 KiB pieces that wait in the process until the
 * socket drains, so the state of a reader is visible:
 *
 *   buffered     0 ───────────── 1 MiB ───────────────── 8 MiB ────────────►
 *                offered for work │ cancels, pings, leased  │ the next frame closes it: buffer_overflow
 *                                 │ work; no new offers     │ pings are left out
 *   no drain for 30 s while something is buffered: closed as stalled
 *
 * The limit applies to what is buffered before a frame, so one frame of any size reaches a reader that
 * reads. work-delivery.ts stops leasing at 1,024 undelivered leases.
 *
 * Hung gateways (gateway-watch.ts). A gateway that hangs takes frames and passes none on. Its workers get no
 * offers and no frames until it answers again, and what was sent in the last moments is released unless it is
 * claimed, so that it reaches another worker within two seconds instead of after `claim_timeout`. A
 * gateway that gets no processor time for seconds cannot be distinguished from one that hangs forever, and a worker
 * that claims by delivery runs a frame before the server knows. So two things keep a task from running twice:
 *
 *   dispatcher             gateway                 worker
 *        │── frame 1 ────────►│── frame 1 ────────────►│  runs it
 *        │◄─ delivered: 1 ────│                        │
 *        │                    ┊  does not run          │
 *        │── frame 2 ────────►┊                        │
 *        │   hangs: releases 2, not 1                  │
 *        │                    │── : delayed, frame 2 ─►│  claims it, is refused
 *
 *  - the gateway acknowledges, in the turn of its event loop that passes a frame on, the bytes of each stream
 *    that the socket of the worker has taken. A frame that is known to have arrived is not released: it stays
 *    with its worker until `claim_timeout`;
 *  - a gateway that did not run, or missed beats of the dispatcher, marks the frames that it then passes on as
 *    delayed, and the worker claims such a frame before it runs it. The mark is a comment between two frames, so
 *    a frame that had been passed on in part has none.
 *
 * Drain (streams/drain-streams.ts). A dispatcher that stops takes no new streams and ends the open ones over
 * 12 ms each, 12 s at most, so that less than a tenth of a fleet of a thousand moves in any second. A trailer of the
 * response says that it stops, and the gateway continues the stream from another dispatcher at once: a worker that
 * reconnected would be without work for half a second. A gateway that stops asks for the end of each of its streams,
 * which comes after the frames that are on their way; had it closed them, these would wait for `claim_timeout`.
 * Remaining sockets are destroyed one second later. Executions that run are not affected.
 *
 * Guaranteed:
 *  - at most one stream for each worker in this map, that of the highest generation seen here;
 *  - a superseded stream ends within about a second, also without NATS (invariant D8);
 *  - an unhealthy worker receives nothing new from the moment a reader can see it (invariant D7);
 *  - a reader that stops reading affects no other worker (invariant S4).
 *
 * Not guaranteed:
 *  - that a frame which was written has been received. A lease that is not claimed within
 *    `claim_timeout` is queued again, under a new claim generation;
 *  - that no frame reaches an older stream in the second before it ends. The claim generation fences
 *    every write of a worker, so at most one claim of an execution is current;
 *  - that `used` is exact. It is an estimate (domain/load.ts); the lease itself counts.
 *
 * Measurements (bench/README.md, two virtual cores): 5,000 idle workers with a list of a hundred packages
 * cost a dispatcher 5.4 % of a core and 215 MiB, 500 workers 2.6 % and 82 MiB, with one ListReady and two
 * statements a second in both cases. Package lists are shared by text (capabilities.ts), and the pongs
 * of one moment travel in one call: 42 instead of 70 CPU-µs of the dispatcher for each (2026-11-21).
 *
 * Rejected:
 *  - a lease loop for each stream: the cost of an idle fleet would grow with its size;
 *  - a longer time without beats until a gateway counts as hung: it delays the work behind one that does hang, and on a
 *    busy machine a live gateway exceeds any limit;
 *  - acknowledgements with the beats: what a gateway passed on in the quarter of a second before it stopped
 *    would still be sent twice;
 *  - wake-ups alone (ADR 13): signal, lease request and two reads precede each start; with the long poll
 *    the p50 of a single execution fell from 13.5 to 10.4 ms;
 *  - supersession by signal alone: core NATS delivers at most once;
 *  - one column for claim holder and worker name (ADR 4): a repeated or late eviction would take work
 *    that was assigned to a later connection.
 */

/** Stored state of a worker that may change while its stream is open. */
export interface WorkerState {
  session_id: string
  /** Changes whenever another field does. */
  changed_at: string
  capacity: number
  healthy: boolean
  /** True: its first checkpoint may be the claim. */
  claims_by_delivery: boolean
  /** True: it keeps the workflows that dispatches ask it to keep, until its connection ends. */
  keeps_workflows: boolean
  continues_cancelled: boolean
  capabilities: Capabilities
}

/** Shortest time between two cancel frames for the same execution on one stream. */
const CANCEL_RESEND_MS = 5_000

/** Lifetime of a suspicion. By then the pong has been stored, or the suspicion was outdated. */
const SUSPICION_MS = 2_000

/** Stream of a worker, and the state of the gateway through which it passes. */
export interface Carrier {
  stream: WorkerStream
  isGatewayHung(): boolean
}

/** Worker with an open stream at this process. */
export class ConnectedWorker implements CandidateWorker {
  readonly name: string
  readonly connection_generation: number
  readonly stream: WorkerStream
  readonly #isGatewayHung: () => boolean
  readonly #cancelsSent = new Map<string, number>()
  readonly load = new Load()
  readonly #kept = new KeptWorkflows()
  #state: WorkerState
  #suspicion: { changed_at: string; until_ms: number } | undefined
  metrics: Metrics = {}

  constructor(connection: Connection, state: WorkerState, { stream, isGatewayHung }: Carrier) {
    this.name = connection.name
    this.connection_generation = connection.connection_generation
    this.stream = stream
    this.#isGatewayHung = isGatewayHung
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

  get claims_by_delivery(): boolean {
    return this.#state.claims_by_delivery
  }

  get continues_cancelled(): boolean {
    return this.#state.continues_cancelled
  }

  /** Decides how much of the workflow the next dispatch contains. */
  workflowForm(workflow_id: string, length: number): WorkflowForm {
    return this.#state.keeps_workflows ? this.#kept.formOf(workflow_id, length) : 'whole'
  }

  get isHealthy(): boolean {
    return this.#state.healthy && !this.#isSuspected
  }

  get capabilities(): Capabilities {
    return this.#state.capabilities
  }

  /** Replaces the state after the stored row or record has changed. */
  applyRecord(state: WorkerState): void {
    this.#state = state
  }

  /** Applies the health of a pong that was received here, before the pong is stored. */
  setHealthFromHeartbeat(healthy: boolean): void {
    this.#suspicion = undefined
    this.#state = { ...this.#state, healthy }
  }

  /**
   * Treats the worker as unhealthy until the stored row changes: another process received a pong that says
   * so.
   */
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
    return this.stream.isWritable && !this.isGatewayHung
  }

  /** True while frames would get no further than the buffers of the gateway. */
  get isGatewayHung(): boolean {
    return this.#isGatewayHung()
  }

  /** True if a cancel frame is due; then records it as sent. */
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

/** Workers connected to this process; at most one stream for each, that of the highest generation. */
export class ConnectedWorkers {
  readonly #byName = new Map<string, ConnectedWorker>()
  /** Grows whenever a worker connects, disconnects or changes. */
  fleetVersion = 0
  readonly #onChange: () => void

  /** `onChange` runs whenever `fleetVersion` grows. */
  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get size(): number {
    return this.#byName.size
  }

  get(name: string): ConnectedWorker | undefined {
    return this.#byName.get(name)
  }

  /**
   * Adds a worker and closes its older stream. If a newer one is connected, closes the given stream and
   * returns false.
   */
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

  /** Replaces the state of a worker whose stream is held here. */
  applyRecord(name: string, state: WorkerState): void {
    this.#byName.get(name)?.applyRecord(state)
    this.bumpFleetVersion()
  }

  /** Invalidates cached matching results and the offers of the long poll. */
  bumpFleetVersion(): void {
    this.fleetVersion++
    this.#onChange()
  }

  /** Closes the worker's stream if its generation is lower. */
  closeOlder(name: string, connection_generation: number, reason: EndReason): void {
    const worker = this.#byName.get(name)
    if (worker && worker.connection_generation < connection_generation) worker.stream.end(reason)
  }

  /** Removes a worker whose stream has ended; false if a newer stream has replaced it. */
  remove(worker: ConnectedWorker): boolean {
    if (this.#byName.get(worker.name) !== worker) return false
    this.#byName.delete(worker.name)
    this.bumpFleetVersion()
    return true
  }

  /**
   * Iterates over all workers, starting at a position that the caller moves, so that no worker is always
   * last.
   */
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
