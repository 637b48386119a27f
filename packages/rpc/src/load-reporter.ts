import { performance } from 'node:perf_hooks'
import { cpuLimit } from '@windlass/runtime/process/cpu-limit'

const REPORT_MS = 500
/** Utilization from which on it is reported. Below it, clients have restored their limits after a few reports. */
const REPORTED_FROM = 0.3
/** Reports that follow the last one above REPORTED_FROM: clients double their limits with each of them. */
const REPORTS_AFTER = 6
const PERCENT = 100
const US_PER_MS = 1_000

/**
 * Reports to the clients of this process how much of its processor time it uses, twice a second while it is loaded.
 * The utilization of the event loop is no measure of it: on a machine with more work than processors it is high in all
 * processes, and further replicas there would only cost more (0.75 of the executions/s, docs/scaling.md). Commands
 * start the measurement, so an idle process is not woken.
 */
export class LoadReporter {
  readonly #send: (percent: number) => void
  readonly #measure: () => number
  #timer: NodeJS.Timeout | undefined
  #reportsLeft = 0
  #hasCalls = false
  #isStopped = false

  /**
   * `send` sends the utilization, in percent, to all clients; `measure` returns the utilization since its last call, 0 to 1.
   */
  constructor(send: (percent: number) => void, measure = measureUtilization()) {
    this.#send = send
    this.#measure = measure
  }

  onCall(): void {
    if (this.#isStopped) return
    if (this.#timer) {
      this.#hasCalls = true
      return
    }
    this.#measure()
    this.#schedule()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #schedule(): void {
    this.#timer = setTimeout(() => this.#report(), REPORT_MS)
    this.#timer.unref()
  }

  #report(): void {
    const utilization = this.#measure()
    if (utilization >= REPORTED_FROM) this.#reportsLeft = REPORTS_AFTER + 1
    if (this.#reportsLeft > 0) {
      this.#reportsLeft--
      this.#send(Math.round(utilization * PERCENT))
    }
    this.#timer = undefined
    if (this.#hasCalls || this.#reportsLeft > 0) this.#schedule()
    this.#hasCalls = false
  }
}

/**
 * Compares the processor time of all threads with what this process may use: one core, since one thread does its work, or
 * the limit of its container if that is less.
 */
function measureUtilization(): () => number {
  let before = { ...process.cpuUsage(), ms: performance.now() }
  return () => {
    const { ms } = before
    const now = { ...process.cpuUsage(), ms: performance.now() }
    const usedUs = now.user + now.system - before.user - before.system
    before = now
    const allowedUs = Math.min(1, cpuLimit()) * (now.ms - ms) * US_PER_MS
    return Math.min(1, usedUs / allowedUs)
  }
}
