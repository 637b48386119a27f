import { Fault, invalid, unavailable } from '@windlass/runtime/faults'
import type { Logger } from '@windlass/runtime/process/log'
import type { Declared } from '../domain/analysis.ts'
import type { Reply } from './protocol.ts'
import { type Death, type Limits, Thread } from './thread.ts'

const THREADS = 2
const MAX_QUEUED = 64
/** How long a source waits for a thread; its caller's own deadline is a little later. */
const MAX_WAIT_MS = 7_000
const RESTART_MS = 1_000

export interface PoolOptions extends Limits {
  sdkModules: string[]
  log: Logger
}

interface Job {
  source: Uint8Array
  settle(outcome: Reply | Death): void
}

/** A few threads and the sources that wait for them. A thread that a source has ruined is replaced. */
export class Pool {
  readonly #options: PoolOptions
  readonly #queue: Job[] = []
  readonly #running: Promise<void>[]
  #wake: (() => void)[] = []
  #idle = 0
  #stopping = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#running = Array.from({ length: THREADS }, (_, slot) => this.#run(slot > 0))
  }

  /** The workflows of a source. Throws `invalid` if it cannot be read, `unavailable` when too many wait. */
  async read(source: Uint8Array): Promise<Declared[]> {
    if (this.#stopping || this.#queue.length >= MAX_QUEUED) throw overloaded()
    return this.#resultOf(await this.#enqueue(source))
  }

  async stop(): Promise<void> {
    this.#stopping = true
    this.#wakeAll()
    await Promise.all(this.#running)
  }

  #enqueue(source: Uint8Array): Promise<Reply | Death> {
    return new Promise((resolve, reject) => {
      const job = { source, settle: resolve }
      this.#queue.push(job)
      this.#wakeAll()
      setTimeout(() => {
        const at = this.#queue.indexOf(job)
        if (at < 0) return
        this.#queue.splice(at, 1)
        reject(overloaded())
      }, MAX_WAIT_MS).unref()
    })
  }

  /** Keeps one thread, from the start or, if it is a reserve, from when there is more than the others can do. */
  async #run(isReserve: boolean): Promise<void> {
    while (!this.#stopping) {
      if (isReserve && (this.#queue.length === 0 || this.#idle > 0)) {
        await this.#somethingToDo()
        continue
      }
      try {
        await this.#runThread(await Thread.start(this.#options.sdkModules))
      } catch (error) {
        this.#options.log.error({ err: error }, 'analysis thread not started')
        await new Promise((resolve) => setTimeout(resolve, RESTART_MS))
      }
    }
  }

  async #runThread(thread: Thread): Promise<void> {
    while (!thread.spent && !this.#stopping) {
      const job = this.#queue.shift()
      if (job) job.settle(await thread.read(job.source, this.#options))
      else {
        this.#idle++
        await this.#somethingToDo()
        this.#idle--
      }
    }
    await thread.stop()
  }

  #somethingToDo(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve))
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }

  #resultOf(outcome: Reply | Death): Declared[] {
    if (outcome === 'too slow') throw unreadable(`it takes more than ${this.#options.limitMs} ms`)
    if (outcome === 'starved') throw unavailable('too busy to analyse the source')
    if (outcome === 'died') throw unreadable('it takes more memory than it may')
    if ('workflows' in outcome) return outcome.workflows
    if ('fault' in outcome) {
      const { kind, message, details } = outcome.fault
      throw new Fault(kind, message, details ? { details } : {})
    }
    this.#options.log.error({ reason: outcome.error }, 'source not analysed')
    throw unreadable('its analysis failed')
  }
}

const unreadable = (reason: string) => invalid(`Workflow source could not be parsed: ${reason}.`)

const overloaded = () => unavailable('too many sources are waiting to be analysed')
