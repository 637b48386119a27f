import type { ClientRequest, IncomingMessage } from 'node:http'

/** Also the interval of our beats. */
const CHECK_MS = 250
const BEAT = '.'
/** Four beats; together with the move of the streams below two seconds. */
const HUNG_MS = 1_000
/** Two beats: a dispatcher without them takes no streams of another one. */
const FRESH_MS = 600
const RECONNECT_MS = 500
/** Pause after a dispatcher that sends no beats; a rolling update may replace it at any time. */
const UNSUPPORTED_PAUSE_MS = 30_000

/**
 * Watches one dispatcher by the beats that it sends on a connection of their own. A dispatcher that is
 * suspended, or cut off without a reset, sends none, and no stream from it would show that before its
 * next ping. One that is gone closes its connections, and is not reported here.
 *
 * Sends beats too, in the body of the request, by which the dispatcher notices that this process hangs.
 */
export class DispatcherWatch {
  readonly #open: () => ClientRequest
  readonly #onHung: () => void
  readonly #timer: NodeJS.Timeout
  #reconnecting: NodeJS.Timeout | undefined
  #request: ClientRequest | undefined
  /** Undefined while no beats are expected. */
  #beatMs: number | undefined
  #checkedMs = performance.now()
  isHung = false

  /** `open` begins the request for beats; `onHung` runs at each check while the dispatcher hangs. */
  constructor(open: () => ClientRequest, onHung: () => void) {
    this.#open = open
    this.#onHung = onHung
    this.#timer = setInterval(() => this.#check(), CHECK_MS)
    this.#timer.unref()
    this.#connect()
  }

  /** True if the dispatcher has just sent a beat. */
  get isFresh(): boolean {
    return this.#beatMs !== undefined && performance.now() - this.#beatMs < FRESH_MS
  }

  stop(): void {
    clearInterval(this.#timer)
    clearTimeout(this.#reconnecting)
    this.#request?.removeAllListeners('close').destroy()
  }

  #connect(): void {
    const request = this.#open()
    this.#request = request
    let pauseMs = RECONNECT_MS
    request.on('error', () => {})
    request.once('response', (response: IncomingMessage) => {
      if (response.statusCode !== 200) {
        pauseMs = UNSUPPORTED_PAUSE_MS
        return void request.destroy()
      }
      const onBeat = () => {
        this.#beatMs = performance.now()
        this.isHung = false
      }
      onBeat()
      response.on('data', onBeat)
      response.on('error', () => {})
    })
    request.once('close', () => {
      this.#beatMs = undefined
      this.isHung = false
      this.#reconnecting = setTimeout(() => this.#connect(), pauseMs)
      this.#reconnecting.unref()
    })
    request.write(BEAT)
  }

  #check(): void {
    const nowMs = performance.now()
    // This process was suspended or busy: the beats of that time are still to be read.
    const wasLate = nowMs - this.#checkedMs > 2 * CHECK_MS
    this.#checkedMs = nowMs
    const request = this.#request
    if (request && !request.destroyed && !request.writableNeedDrain) request.write(BEAT)
    if (this.#beatMs === undefined) return
    if (wasLate) this.#beatMs = nowMs
    if (nowMs - this.#beatMs < HUNG_MS) return
    this.isHung = true
    this.#onHung()
  }
}
