/**
 * Changes of lists, over one stream for all tabs of a browser.
 *
 * Browsers open six connections to a host, and a gateway counts the streams of a caller, so tabs share
 * one: visible tabs elect a leader by a lock; it reads the stream and passes its events to the others
 * over a channel. The lock ends with its tab, however that ends, and the next tab resumes behind the last
 * event that was passed on. A tab that is hidden takes no part. Where tabs cannot elect (the lock exists
 * on secure addresses only, and storage may be forbidden) each visible tab reads a stream of its own.
 *
 * A leader that hangs passes nothing on: after some seconds without a message a follower is not live, and
 * its screens poll.
 */
import { ALL_LOST, type ListEvent } from './list-event.ts'

/** A message between tabs. */
export type Message =
  /** A tab joins and asks for the state. */
  | { kind: 'join' }
  | { kind: 'state'; isLive: boolean; cursor: string | undefined }
  | { kind: 'events'; events: readonly ListEvent[]; cursor: string | undefined }

export interface Channel {
  post(message: Message): void
  close(): void
}

interface StreamHandlers {
  after: string | undefined
  signal: AbortSignal
  /** `cursor` is the place behind the events. */
  onEvents: (events: readonly ListEvent[], cursor: string | undefined) => void
  onState: (isLive: boolean) => void
}

export interface FeedDeps {
  /** Reads the stream until the signal aborts. */
  read: (handlers: StreamHandlers) => Promise<void>
  /**
   * Runs a function while this tab leads, at most one tab at a time; rejects where tabs cannot elect.
   * Undefined: as if it rejected.
   */
  lead: ((run: () => Promise<void>, signal: AbortSignal) => Promise<void>) | undefined
  /** Opens the channel between tabs; undefined where there is none. */
  openChannel: (receive: (message: Message) => void) => Channel | undefined
  every: (ms: number, run: () => void) => () => void
  now: () => number
}

const STATE_EVERY_MS = 5_000
/** A leader that was silent for longer is not considered live. */
const SILENCE_MS = 12_500

type OnEvents = (events: readonly ListEvent[]) => void

export class SharedFeed {
  readonly #deps: FeedDeps
  readonly #readers = new Set<OnEvents>()
  readonly #watchers = new Set<() => void>()
  #cursor: string | undefined
  #isLive = false
  #isLeading = false
  /** When the leader's last message arrived. */
  #messageAt = Number.NEGATIVE_INFINITY
  /** Follower only: the leader's state is known. */
  #hasJoined = false
  #channel: Channel | undefined
  #taking: AbortController | undefined

  constructor(deps: FeedDeps) {
    this.#deps = deps
  }

  /** True while every change arrives as an event. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** Calls back with events, and when `isLive` changes, until the returned function is called. */
  subscribe(onEvents: OnEvents, onState: () => void): () => void {
    this.#readers.add(onEvents)
    this.#watchers.add(onState)
    return () => {
      this.#readers.delete(onEvents)
      this.#watchers.delete(onState)
    }
  }

  /** Takes part: the tab is visible. */
  start(): void {
    if (this.#taking) return
    const taking = new AbortController()
    this.#taking = taking
    const { lead, openChannel, every } = this.#deps
    this.#channel = lead && openChannel((message) => this.#receive(message))
    const stopTimer = every(STATE_EVERY_MS, () => this.#tick())
    taking.signal.addEventListener('abort', stopTimer)
    if (!lead || !this.#channel) void this.#read(taking.signal)
    else {
      this.#channel.post({ kind: 'join' })
      const { signal } = taking
      lead(() => this.#read(signal), signal).catch(() => {
        // Tabs cannot elect: this one reads for itself.
        if (signal.aborted || this.#isLeading) return
        this.#closeChannel()
        void this.#read(signal)
      })
    }
  }

  /** Takes no part any more: the tab is hidden, or another caller has signed in. */
  stop({ forget = false } = {}): void {
    this.#taking?.abort()
    this.#taking = undefined
    this.#closeChannel()
    this.#isLeading = false
    this.#hasJoined = false
    if (forget) this.#cursor = undefined
    this.#setLive(false)
  }

  async #read(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    this.#isLeading = true
    const onState = (isLive: boolean) => {
      if (signal.aborted) return
      const isFresh = isLive && this.#cursor === undefined
      this.#setLive(isLive)
      this.#announce()
      // Nothing is known of the time before a stream that does not resume.
      if (isFresh) this.#pass(ALL_LOST, undefined)
    }
    const onEvents = (events: readonly ListEvent[], cursor: string | undefined) => {
      if (!signal.aborted) this.#pass(events, cursor)
    }
    await this.#deps.read({ after: this.#cursor, signal, onEvents, onState })
  }

  /** Leader only: gives events to the readers of this tab and to the other tabs. */
  #pass(events: readonly ListEvent[], cursor: string | undefined): void {
    this.#cursor = cursor ?? this.#cursor
    if (events.length === 0) return
    this.#channel?.post({ kind: 'events', events, cursor: this.#cursor })
    this.#give(events)
  }

  #announce(): void {
    this.#channel?.post({ kind: 'state', isLive: this.#isLive, cursor: this.#cursor })
  }

  #receive(message: Message): void {
    if (this.#isLeading) {
      if (message.kind === 'join') this.#announce()
      return
    }
    if (message.kind === 'join') return
    this.#messageAt = this.#deps.now()
    this.#cursor = message.cursor ?? this.#cursor
    if (message.kind === 'events') this.#give(message.events)
    else {
      this.#setLive(message.isLive)
      // What was passed on before this tab joined is unknown to it.
      if (!this.#hasJoined && message.isLive) this.#give(ALL_LOST)
      this.#hasJoined ||= message.isLive
    }
  }

  #tick(): void {
    if (this.#isLeading) this.#announce()
    else if (this.#isLive && this.#deps.now() - this.#messageAt > SILENCE_MS) {
      this.#hasJoined = false
      this.#setLive(false)
    }
  }

  #give(events: readonly ListEvent[]): void {
    for (const onEvents of this.#readers) onEvents(events)
  }

  #setLive(isLive: boolean): void {
    if (isLive === this.#isLive) return
    this.#isLive = isLive
    for (const onState of this.#watchers) onState()
  }

  #closeChannel(): void {
    this.#channel?.close()
    this.#channel = undefined
  }
}
