import type { Metrics } from './domain/facts.ts'
import { Load } from './domain/load.ts'
import type { Abilities } from './domain/matching.ts'
import type { Seat } from './domain/offers.ts'
import type { Ending, WorkerStream } from './stream.ts'

/** What may change about a worker while its stream is open. */
export interface Standing {
  session_id: string
  /** Differs whenever the rest did. */
  changed_at: string
  capacity: number
  healthy: boolean
  abilities: Abilities
}

/** How long the same cancellation is not repeated on one stream. */
const CANCEL_REPEAT_MS = 5_000

/** How long the word of another process counts; by then it is in the database, or was an old one. */
const DOUBT_MS = 2_000

/** One live stream of a worker. */
export class Session implements Seat {
  readonly name: string
  readonly generation: number
  readonly stream: WorkerStream
  readonly #cancelled = new Map<string, number>()
  readonly load = new Load()
  #standing: Standing
  #doubt: { changed_at: string; until_ms: number } | undefined
  metrics: Metrics = {}

  constructor(name: string, generation: number, standing: Standing, stream: WorkerStream) {
    this.name = name
    this.generation = generation
    this.stream = stream
    this.#standing = standing
  }

  get session_id(): string {
    return this.#standing.session_id
  }

  get changed_at(): string {
    return this.#standing.changed_at
  }

  get capacity(): number {
    return this.#standing.capacity
  }

  get healthy(): boolean {
    return this.#standing.healthy && !this.#isDoubted
  }

  get abilities(): Abilities {
    return this.#standing.abilities
  }

  /** Takes in what is stored about the worker by now. */
  stand(standing: Standing): void {
    this.#standing = standing
  }

  /** Takes in what its pong says, ahead of the database. */
  feel(healthy: boolean): void {
    this.#doubt = undefined
    this.#standing = { ...this.#standing, healthy }
  }

  /** Takes in that it told another process it is not healthy, until the database says what became of that. */
  doubt(session_id: string, now_ms: number): void {
    if (session_id !== this.session_id) return
    this.#doubt = { changed_at: this.changed_at, until_ms: now_ms + DOUBT_MS }
  }

  get #isDoubted(): boolean {
    const { changed_at, until_ms } = this.#doubt ?? { changed_at: '', until_ms: 0 }
    return changed_at === this.changed_at && performance.now() < until_ms
  }

  get used(): number {
    return this.load.used
  }

  get drained(): boolean {
    return this.stream.drained
  }

  /** Whether this cancellation is to be told now; if so it counts as told. */
  tellsCancel(execution_id: string, now_ms: number): boolean {
    for (const [id, told_ms] of this.#cancelled) {
      if (now_ms - told_ms < CANCEL_REPEAT_MS) break
      this.#cancelled.delete(id)
    }
    if (this.#cancelled.has(execution_id)) return false
    this.#cancelled.set(execution_id, now_ms)
    return true
  }
}

/** The live streams of this process, at most one for each worker: the one of the highest generation. */
export class Sessions {
  readonly #byName = new Map<string, Session>()
  /** Another number whenever a worker came or left, or something about one changed. */
  fleet = 0
  /** A worker came or left, or something about one changed. */
  onChange: () => void = () => {}

  get size(): number {
    return this.#byName.size
  }

  get(name: string): Session | undefined {
    return this.#byName.get(name)
  }

  /** Takes a stream in, closing an older one of the worker. Closes and refuses it if a newer one is there. */
  open(session: Session): boolean {
    const other = this.#byName.get(session.name)
    if (other && other.generation > session.generation) {
      session.stream.end('superseded')
      return false
    }
    this.#byName.set(session.name, session)
    this.changed()
    other?.stream.end('superseded')
    return true
  }

  /** Takes in what is stored about a worker by now, if its stream is here. */
  stand(name: string, standing: Standing): void {
    this.#byName.get(name)?.stand(standing)
    this.changed()
  }

  /** Something about a session is not as it was. */
  changed(): void {
    this.fleet++
    this.onChange()
  }

  /** Closes the worker's stream if it is older than this generation. */
  close(name: string, generation: number, ending: Ending): void {
    const session = this.#byName.get(name)
    if (session && session.generation < generation) session.stream.end(ending)
  }

  /** Forgets a stream that has ended; answers whether it was the worker's latest here. */
  drop(session: Session): boolean {
    if (this.#byName.get(session.name) !== session) return false
    this.#byName.delete(session.name)
    this.changed()
    return true
  }

  /** Every session once, beginning at a place that moves on, so that no worker is always last. */
  *rotated(start: number): Generator<Session> {
    const all = [...this.#byName.values()]
    for (let i = 0; i < all.length; i++) {
      const session = all[(start + i) % all.length]
      if (session) yield session
    }
  }

  [Symbol.iterator](): Iterator<Session> {
    return this.#byName.values()
  }
}
