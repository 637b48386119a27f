import { waitAtMost } from '../timeout.ts'

/** Result of `/ready` of a process. */
export type ReadinessReport =
  | { status: 'ready' }
  | { status: 'not-ready'; reason: 'starting' | 'stopping' }
  | { status: 'not-ready'; reason: 'dependencies'; failing: string[] }

const CHECK_TIMEOUT_MS = 3_000
/** Requests within this time share a result, because the endpoint asks for no credential. */
const REUSE_MS = 500

/**
 * Reports if a process accepts work: it has started, is not stopping, and the dependencies that it needs
 * respond.
 */
export class Readiness {
  readonly #checks = new Map<string, () => Promise<unknown>>()
  #state: 'starting' | 'serving' | 'stopping' = 'starting'
  #result: { at: number; report: Promise<ReadinessReport> } | undefined

  /** Adds a dependency. The check rejects while the service cannot work without it. */
  add(name: string, check: () => Promise<unknown>): void {
    this.#checks.set(name, check)
  }

  setServing(): void {
    if (this.#state === 'starting') this.#state = 'serving'
  }

  setStopping(): void {
    this.#state = 'stopping'
  }

  get isStopping(): boolean {
    return this.#state === 'stopping'
  }

  async report(): Promise<ReadinessReport> {
    if (this.#state !== 'serving') return { status: 'not-ready', reason: this.#state }
    const now = performance.now()
    if (!this.#result || now - this.#result.at > REUSE_MS)
      this.#result = { at: now, report: this.#runChecks() }
    return await this.#result.report
  }

  async #runChecks(): Promise<ReadinessReport> {
    const results = await Promise.all(
      [...this.#checks].map(async ([name, check]) => ((await answers(check)) ? [] : [name])),
    )
    const failing = results.flat()
    if (failing.length === 0) return { status: 'ready' }
    return { status: 'not-ready', reason: 'dependencies', failing }
  }
}

/** True if a check resolves in time. */
async function answers(check: () => Promise<unknown>): Promise<boolean> {
  let hasAnswered = false
  const checked = check().then(
    () => {
      hasAnswered = true
    },
    () => {},
  )
  await waitAtMost(CHECK_TIMEOUT_MS, checked)
  return hasAnswered
}
