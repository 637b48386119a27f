import { clockOffset } from '../metrics/metrics.ts'
import { Problem } from '../problems.ts'
import type { Logger } from '../process/log.ts'
import { READ_ONLY } from './outage.ts'

/** SQLSTATE disk_full. */
const DISK_FULL = '53100'
const READ_ONLY_TEXT =
  'PostgreSQL accepts no writes: it is a standby, or default_transaction_read_only is on'
/** Time after which writes are tried again: no statement says whether there is space. */
const FULL_MS = 10_000
/** Service tokens tolerate an hour, but people read times from both clocks. */
const MAX_OFFSET_S = 60

/** State of the server, read by the one statement of a check. */
export interface ServerState {
  is_read_only: boolean
  /** Seconds since 1970. */
  now_s: number
}

/**
 * Watches for conditions that a service cannot repair and cannot work with, although the database responds:
 * a full disk, a server that accepts no writes, and a clock that is more than a minute off.
 */
export class DatabaseWatch {
  readonly #readOnly: Problem
  readonly #full: Problem
  readonly #clock: Problem
  readonly #nowMs: () => number
  readonly #stopOffset: () => void
  #fullUntilMs = 0
  #offsetS: number | undefined

  constructor(log: Logger | undefined, nowMs: () => number = Date.now) {
    this.#readOnly = new Problem('database_read_only', log)
    this.#full = new Problem('database_full', log)
    this.#clock = new Problem('clock', log)
    this.#nowMs = nowMs
    this.#stopOffset = clockOffset.observe((report) => {
      if (this.#offsetS !== undefined) report(this.#offsetS)
    })
  }

  /** Notes the error of a statement. */
  onError(error: unknown): void {
    const { code } = error as { code?: unknown }
    // Includes a URL with several hosts, none of which accepts writes.
    if (code === READ_ONLY) this.#readOnly.set(READ_ONLY_TEXT)
    if (code !== DISK_FULL) return
    this.#fullUntilMs = performance.now() + FULL_MS
    this.#full.set(
      'the disk of PostgreSQL is full: free space, or enlarge its volume; what needs no space continues',
    )
  }

  /** Evaluates the state that `read` returns. Rejects if it cannot be read, or while there is a problem. */
  async check(read: () => Promise<ServerState | undefined>): Promise<void> {
    const askedMs = this.#nowMs()
    const state = await read()
    if (!state) throw new Error('the database answered nothing')
    const middleS = (askedMs + this.#nowMs()) / 2_000
    this.#judgeClock(middleS - state.now_s)
    this.#readOnly.set(state.is_read_only ? READ_ONLY_TEXT : undefined)
    if (performance.now() > this.#fullUntilMs) this.#full.set(undefined)
    for (const problem of [this.#readOnly, this.#full, this.#clock]) problem.refuse()
  }

  #judgeClock(offsetS: number): void {
    this.#offsetS = offsetS
    const isWrong = Math.abs(offsetS) > MAX_OFFSET_S
    const direction = offsetS > 0 ? 'ahead of' : 'behind'
    this.#clock.set(
      isWrong
        ? `the clock of this machine is ${Math.abs(Math.round(offsetS))} s ${direction} that of PostgreSQL: synchronise both`
        : undefined,
    )
  }

  close(): void {
    this.#stopOffset()
    for (const problem of [this.#readOnly, this.#full, this.#clock]) problem.close()
  }
}
