import type { ClientRequest, IncomingMessage } from 'node:http'
import { startSharedInterval } from '@windlass/runtime/process/shared-interval'
import { StallWatch } from '@windlass/runtime/process/stall-watch'

/** Also the interval of our beats. */
const CHECK_MS = 250
const BEAT = '.'
/** Four beats; together with moving the streams, less than two seconds. */
const HUNG_MS = 1_000
/** Two beats: a dispatcher that has sent none for this long takes over no streams. */
const FRESH_MS = 600
const RECONNECT_MS = 500
/** Pause after a dispatcher that sends no beats; a rolling update may replace it at any time. */
const UNSUPPORTED_PAUSE_MS = 30_000

/** A worker stream whose bytes are acknowledged to its dispatcher. */
export interface AcknowledgedStream {
  worker_name: string
  generation: number
  /** Bytes of the dispatcher's stream that the worker has got or gets next. */
  readonly acknowledgedBytes: number
}

/**
 * Watches one dispatcher by the beats that it sends on a separate connection. A dispatcher that is
 * suspended, or cut off without a reset, sends none, and no worker stream would show that before its next
 * ping. A dispatcher that is gone closes its connections and is not reported here. This process sends beats
 * too, in the body of the request, so that the dispatcher notices when this process hangs. Between the
 * beats it sends how many bytes of each worker stream its worker gets: one line just before each piece that is passed on
 * (worker-proxy.ts). When the beats stop, the dispatcher sends to other workers only those frames that are not
 * acknowledged.
 */
export class DispatcherWatch {
  readonly #open: () => ClientRequest
  readonly #onHung: () => void
  readonly #stopChecks: () => void
  readonly #stalls = new StallWatch()
  #reconnecting: NodeJS.Timeout | undefined
  #request: ClientRequest | undefined
  /** Undefined while no beats are expected. */
  #beatMs: number | undefined
  #checkedMs = performance.now()
  #unacknowledged = new Set<AcknowledgedStream>()
  isHung = false

  /** `open` sends the request for beats; `onHung` is called at each check while the dispatcher hangs. */
  constructor(open: () => ClientRequest, onHung: () => void) {
    this.#open = open
    this.#onHung = onHung
    this.#stopChecks = startSharedInterval(CHECK_MS, () => this.#check())
    this.#connect()
  }

  /** True if the dispatcher has just sent a beat. */
  get isFresh(): boolean {
    return this.#beatMs !== undefined && performance.now() - this.#beatMs < FRESH_MS
  }

  /**
   * True if bytes that are read now may have been sent so long ago that the dispatcher has considered this
   * process hung and given the work to other workers: after a suspension, or while its beats are missing.
   */
  get mayBeDelayed(): boolean {
    if (this.#stalls.mayBeLate) return true
    return this.#beatMs !== undefined && performance.now() - this.#beatMs > FRESH_MS
  }

  /** Sends to the dispatcher how many bytes of a stream its worker gets; with the next beat if that is not possible now. */
  acknowledge(stream: AcknowledgedStream): void {
    this.#unacknowledged.add(stream)
    this.#sendAcknowledgements()
  }

  /** Asks the dispatcher to end a stream after everything that it has sent; false if that is not possible now. */
  requestEnd({ generation, worker_name }: AcknowledgedStream): boolean {
    return this.#beatMs !== undefined && this.#write(`leave ${generation} ${worker_name}\n`)
  }

  stop(): void {
    this.#stopChecks()
    this.#stalls.stop()
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
    // This process was suspended or busy: the beats of that time have not been read yet.
    const wasLate = nowMs - this.#checkedMs > 2 * CHECK_MS
    this.#checkedMs = nowMs
    this.#write(BEAT)
    this.#sendAcknowledgements()
    if (this.#beatMs === undefined) return
    if (wasLate) this.#beatMs = nowMs
    if (nowMs - this.#beatMs < HUNG_MS) return
    this.isHung = true
    this.#onHung()
  }

  #sendAcknowledgements(): void {
    if (this.#unacknowledged.size === 0) return
    const lines = [...this.#unacknowledged].map(
      ({ generation, acknowledgedBytes, worker_name }) =>
        `${generation} ${acknowledgedBytes} ${worker_name}\n`,
    )
    // Kept for the next check otherwise.
    if (this.#write(lines.join(''))) this.#unacknowledged.clear()
  }

  #write(text: string): boolean {
    const request = this.#request
    if (!request || request.destroyed || request.writableNeedDrain) return false
    request.write(text)
    return true
  }
}
