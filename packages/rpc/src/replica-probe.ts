/** Time without a message from the replica, while calls wait for it, before it is probed. */
const QUIET_MS = 300
/** The same while only long polls wait. Silence is normal for them, and each probe wakes two processes. */
const LONG_POLL_QUIET_MS = 2_000
/** Time for the answer to a probe. */
const ANSWER_MS = 500

export interface ReplicaProbeOptions {
  /** True while a call waits for this replica. */
  isWaiting(): boolean
  /** True if only long polls wait. */
  isPolling(): boolean
  /** Sends a message that every replica answers at once. */
  send(): void
  /** Called when a probe was not answered, and then every ANSWER_MS until the replica answers. */
  onUnresponsive(): void
}

/**
 * Distinguishes a replica that hangs from a handler that takes long. A replica that sends nothing while
 * calls wait is probed; if it does not answer, it is unresponsive until its next message. The deadlines of
 * the calls do not matter, so a long poll or a slow statement never makes a replica unresponsive. A
 * suspended process is found after QUIET_MS + ANSWER_MS, or after LONG_POLL_QUIET_MS + ANSWER_MS if only
 * long polls wait for it.
 */
export class ReplicaProbe {
  readonly #options: ReplicaProbeOptions
  #isResponsive = true
  #receivedMs = 0
  #timer: NodeJS.Timeout | undefined
  /** True while the timer is set for long polls alone. */
  #isLongPause = false

  constructor(options: ReplicaProbeOptions) {
    this.#options = options
  }

  get isResponsive(): boolean {
    return this.#isResponsive
  }

  /** Records that a call was sent. */
  onSend(): void {
    if (this.#timer && !(this.#isLongPause && !this.#options.isPolling())) return
    this.#receivedMs = performance.now()
    this.#schedule(() => this.#check(), QUIET_MS)
  }

  /** Records a message from the replica, of any kind. */
  onReceive(): void {
    this.#receivedMs = performance.now()
    this.#isResponsive = true
  }

  /** Excludes the replica until it answers: a call has exceeded its deadline. */
  onTimeout(): void {
    if (!this.#isResponsive) return
    this.#isResponsive = false
    this.#probe()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #check(): void {
    this.#timer = undefined
    if (!this.#options.isWaiting()) return
    const isPolling = this.#options.isPolling()
    const leftMs =
      this.#receivedMs + (isPolling ? LONG_POLL_QUIET_MS : QUIET_MS) - performance.now()
    if (leftMs <= 0) this.#probe()
    else {
      this.#schedule(() => this.#check(), leftMs)
      this.#isLongPause = isPolling
    }
  }

  #probe(): void {
    this.#options.send()
    this.#expectAnswer(performance.now())
  }

  #expectAnswer(sentMs: number): void {
    // After the poll phase: timers fire first when this process was itself suspended or busy.
    const judge = () => setImmediate(() => this.#judge(sentMs))
    this.#schedule(judge, ANSWER_MS)
  }

  #judge(sentMs: number): void {
    this.#timer = undefined
    if (this.#receivedMs >= sentMs) {
      this.#check()
      return
    }
    this.#isResponsive = false
    this.#expectAnswer(sentMs)
    this.#options.onUnresponsive()
  }

  #schedule(run: () => void, ms: number): void {
    clearTimeout(this.#timer)
    this.#isLongPause = false
    this.#timer = setTimeout(run, ms)
    this.#timer.unref()
  }
}
