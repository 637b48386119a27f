import type { IncomingMessage } from 'node:http'
import { startSharedInterval } from '@windlass/runtime/process/shared-interval'

const CHECK_MS = 250
/** Four beats. */
const HUNG_MS = 1_000
/**
 * Two beats. While no other gateway has sent one for this long, silence does not prove that a gateway
 * hangs.
 */
const FRESH_MS = 600
/** Connection generation and delivered bytes of a worker's stream, and its name. */
const ACKNOWLEDGEMENT = /^\.*(\d+) (\d+) (.+)$/
/** Connection generation of a worker's stream that is to end, and the name of the worker. */
const LEAVE = /^\.*leave (\d+) (.+)$/

interface BeatingGateway {
  beatMs: number
  isHung: boolean
}

export interface GatewayWatchOptions {
  /** Called once when a gateway begins to hang. */
  onHung(id: string): void
  /** Called when a gateway that hung has sent a beat. */
  onRecovered(): void
  /** Receives the number of bytes of a worker stream that its gateway has passed on. */
  onDelivered(worker_name: string, connection_generation: number, bytes: number): void
  /** Called when a gateway that stops wants the stream of a worker to end. */
  onLeave(worker_name: string, connection_generation: number): void
}

/**
 * Watches the gateways that carry worker streams, by the beats that each sends in the body of its request
 * for ours. A gateway that is suspended, or cut off without a reset, takes frames into its buffers, and no
 * worker receives them. A gateway that never sends beats, such as one of an earlier release, is never
 * considered hung. Nor is any gateway while no other one sends beats: the machine may be busy, and the work
 * could go nowhere else. Between the beats come acknowledgements of what was delivered to workers
 * (connected-workers.ts), and requests of a gateway that stops to end streams: if it closed them itself, frames that are
 * on their way would be lost.
 */
export class GatewayWatch {
  readonly #options: GatewayWatchOptions
  readonly #gateways = new Map<string, BeatingGateway>()
  /** Stops the checks; present while there are gateways. */
  #stopChecks: (() => void) | undefined
  #checkedMs = 0

  constructor(options: GatewayWatchOptions) {
    this.#options = options
  }

  stop(): void {
    this.#stopChecks?.()
    this.#stopChecks = undefined
  }

  /** True while the beats of this gateway are missing. */
  isHung(id: string | undefined): boolean {
    return id !== undefined && this.#gateways.get(id)?.isHung === true
  }

  /** Reads the body of a request for beats, to its end. */
  follow(id: string, request: IncomingMessage): void {
    const gateway = { beatMs: performance.now(), isHung: false }
    this.#gateways.set(id, gateway)
    this.#start()
    let rest = ''
    request.on('data', (chunk: Buffer) => {
      gateway.beatMs = performance.now()
      rest = this.#readLines(rest + chunk.toString('latin1'))
      this.#recover(gateway)
    })
    request.on('error', () => {})
    request.once('close', () => {
      if (this.#gateways.get(id) === gateway) this.#gateways.delete(id)
      this.#recover(gateway)
      if (this.#gateways.size === 0) this.stop()
    })
  }

  /** Reads complete lines; returns the incomplete rest. Beats are dots before a line. */
  #readLines(text: string): string {
    const lines = text.split('\n')
    const rest = lines.pop() ?? ''
    for (const line of lines) {
      const [, generation, bytes, name] = ACKNOWLEDGEMENT.exec(line) ?? []
      if (name) this.#options.onDelivered(name, Number(generation), Number(bytes))
      const [, left, leaving] = LEAVE.exec(line) ?? []
      if (leaving) this.#options.onLeave(leaving, Number(left))
    }
    return rest.replace(/^\.+/, '')
  }

  #start(): void {
    if (this.#stopChecks) return
    this.#checkedMs = performance.now()
    this.#stopChecks = startSharedInterval(CHECK_MS, () => this.#check())
  }

  #recover(gateway: BeatingGateway): void {
    if (!gateway.isHung) return
    gateway.isHung = false
    this.#options.onRecovered()
  }

  #hasFresh(nowMs: number): boolean {
    for (const { beatMs } of this.#gateways.values()) if (nowMs - beatMs < FRESH_MS) return true
    return false
  }

  #check(): void {
    const nowMs = performance.now()
    // This process was suspended or busy: the beats of that time have not been read yet.
    const wasLate = nowMs - this.#checkedMs > 2 * CHECK_MS
    this.#checkedMs = nowMs
    for (const [id, gateway] of this.#gateways) {
      if (wasLate) gateway.beatMs = nowMs
      if (gateway.isHung || nowMs - gateway.beatMs < HUNG_MS || !this.#hasFresh(nowMs)) continue
      gateway.isHung = true
      this.#options.onHung(id)
    }
  }
}
