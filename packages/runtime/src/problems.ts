import { problems } from './metrics/metrics.ts'
import type { Logger } from './process/log.ts'

/** Conditions that keep a process from its work until an operator changes something; they end without a restart. */
type ProblemName = 'certificate' | 'clock' | 'database_full' | 'database_read_only' | 'version_skew'

/** Parts of this process that watch for a problem, and whether each has it: services in one process share a series. */
const watchers = new Map<Problem, ProblemName>()

problems.observe((report) => {
  for (const name of new Set(watchers.values())) {
    const isActive = [...watchers].some(([one, its]) => its === name && one.isActive)
    report(isActive ? 1 : 0, { problem: name })
  }
})

/** One problem of this process: logged when it begins and when it ends, and 1 in the metric while it lasts. */
export class Problem {
  readonly #name: ProblemName
  readonly #log: Logger | undefined
  #text: string | undefined

  constructor(name: ProblemName, log: Logger | undefined) {
    this.#name = name
    this.#log = log
    watchers.set(this, name)
  }

  get isActive(): boolean {
    return this.#text !== undefined
  }

  /** Sets what is wrong and what to do; undefined: nothing is. */
  set(text: string | undefined): void {
    const before = this.#text
    this.#text = text
    if (text !== undefined && before === undefined) this.#log?.error({ problem: this.#name }, text)
    if (text === undefined && before !== undefined)
      this.#log?.info({ problem: this.#name }, 'the problem has ended')
  }

  /** Throws while the problem lasts. */
  refuse(): void {
    if (this.#text !== undefined) throw new Error(this.#text)
  }

  /** Ends the metric of a part that closes. */
  close(): void {
    watchers.delete(this)
  }
}
