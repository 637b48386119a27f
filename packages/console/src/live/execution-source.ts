import type { ExecutionRow } from '../api/executions.ts'
import { follow } from '../api/server.ts'
import { feed } from './feed.ts'
import type { ListEvent } from './list-event.ts'
import type { LiveSource } from './live-source.ts'
import { followStream } from './stream.ts'

/** An execution as it was read: the number of its last log entry, and what a row of a list repeats. */
interface Known {
  lastSeq: number
  state: string
  worker: string
}

interface Subscriber {
  onChange: () => void
  onState: () => void
}

/**
 * The event stream of one execution, open while the tab is visible and parts of the page follow it. The
 * list stream announces the changes of state that this stream does not have, such as the assignment of a
 * worker; its other rows of the execution follow entries of the log.
 */
export class ExecutionSource implements LiveSource {
  readonly #id: string
  readonly #subscribers = new Set<Subscriber>()
  /** Number of the last entry that is known; undefined until the execution was read. */
  #after: string | undefined
  #known: Known | undefined
  #isOpen = false
  #hasEnded = false
  #following: AbortController | undefined
  #leaveFeed = () => {}

  constructor(id: string) {
    this.#id = id
  }

  get isLive(): boolean {
    return this.#hasEnded || this.#isOpen
  }

  /** The execution was read: the stream begins behind the last entry of its log. */
  setKnown(known: Known): void {
    this.#known = known
    this.#after ??= String(known.lastSeq)
    this.#update()
  }

  /** The execution has ended, so nothing changes any more. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#update()
    this.#tellState()
  }

  subscribe(onChange: () => void, onState: () => void): () => void {
    const subscriber = { onChange, onState }
    if (this.#subscribers.size === 0) this.#join()
    this.#subscribers.add(subscriber)
    this.#update()
    return () => {
      this.#subscribers.delete(subscriber)
      if (this.#subscribers.size === 0) this.#leave()
    }
  }

  #join(): void {
    document.addEventListener('visibilitychange', this.#update)
    this.#leaveFeed = feed.subscribe(
      (events) => {
        if (events.some((event) => this.#isChange(event))) this.#tell()
      },
      () => {},
    )
  }

  /** True for a row that differs from what was read, and for each one while there is no other stream. */
  #isChange(event: ListEvent): boolean {
    if (event.kind !== 'row' || event.topic !== 'executions' || event.id !== this.#id) return false
    const row = event.row as ExecutionRow | null
    if (row === null || !this.#isOpen) return true
    return row.state !== this.#known?.state || row.worker_name !== this.#known.worker
  }

  #leave(): void {
    document.removeEventListener('visibilitychange', this.#update)
    this.#leaveFeed()
    this.#update()
  }

  readonly #update = () => {
    const isWanted = this.#subscribers.size > 0 && !document.hidden && !this.#hasEnded
    if (!isWanted) {
      this.#following?.abort()
      this.#following = undefined
      this.#isOpen = false
    } else if (!this.#following && this.#after !== undefined) this.#start(this.#after)
  }

  #start(after: string): void {
    const following = new AbortController()
    this.#following = following
    const { signal } = following
    void followStream({
      after,
      signal,
      open: (connection) =>
        follow(`/executions/${encodeURIComponent(this.#id)}/events`, connection),
      onEvent: ({ id }) => {
        if (signal.aborted) return
        if (id !== '' && id !== '0') this.#after = id
        this.#tell()
      },
      onState: (isOpen) => {
        if (signal.aborted) return
        this.#isOpen = isOpen
        this.#tellState()
        // A stream that ends is the end of the execution, or a loss.
        this.#tell()
      },
    })
  }

  #tell(): void {
    for (const { onChange } of this.#subscribers) onChange()
  }

  #tellState(): void {
    for (const { onState } of this.#subscribers) onState()
  }
}
