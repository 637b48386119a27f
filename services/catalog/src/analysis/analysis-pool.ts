import type { DeclaredWorkflow } from '@windlass/python-analysis/declared-workflows'
import { Fault, invalid, unavailable } from '@windlass/runtime/faults'
import type { Logger } from '@windlass/runtime/process/log'
import {
  type AnalysisLimits,
  AnalysisThread,
  type ThreadOptions,
  type WorkerFailure,
} from './analysis-thread.ts'
import type { WorkerReply } from './protocol.ts'
import { SourceQueue } from './source-queue.ts'

const THREADS = 2
const MAX_QUEUED = 64
/** Maximum time that a source waits for a thread; the deadline of the calling rpc is a little later. */
const MAX_QUEUE_MS = 7_000
const RESTART_MS = 1_000

export interface AnalysisPoolOptions extends AnalysisLimits, ThreadOptions {
  log: Logger
}

interface Job {
  /** Key of the principal whose source it is. */
  principal: string
  source: Uint8Array
  settle(outcome: WorkerReply | WorkerFailure): void
  refuse(): void
}

/**
 * A bounded queue of sources, in which principals take turns, in front of a few threads. A thread that a source
 * ruined is replaced.
 *
 * The gateway has threads for large bodies (`body-threads.ts` there), which share no code with these: only
 * a list of jobs would be common. The time that a source takes is not bounded by its size, so a thread here
 * has a deadline in processor time, which a general pool such as piscina does not measure; it starts
 * seconds before its first source, with a parser and warm code; it is replaced when its parser has grown;
 * and its queue is bounded by number and by time. A body takes time in proportion to its size, which
 * BodyBudget bounds: no deadline, no queue limit, a start on demand, and bytes that are moved, not copied.
 */
export class AnalysisPool {
  readonly #options: AnalysisPoolOptions
  readonly #queue = new SourceQueue<Job>(MAX_QUEUED)
  readonly #slots: Promise<void>[]
  #sleepers: (() => void)[] = []
  #idleThreads = 0
  #isStopping = false

  constructor(options: AnalysisPoolOptions) {
    this.#options = options
    this.#slots = Array.from({ length: THREADS }, (_, slot) => this.#runSlot(slot > 0))
  }

  /** Returns the workflows of a source. Throws `invalid` if it is refused, `unavailable` under overload. */
  async analyse(source: Uint8Array, principal = ''): Promise<DeclaredWorkflow[]> {
    if (this.#isStopping) throw overloaded()
    return this.#toResult(await this.#enqueue(source, principal))
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wakeAll()
    await Promise.all(this.#slots)
  }

  #enqueue(source: Uint8Array, principal: string): Promise<WorkerReply | WorkerFailure> {
    return new Promise((resolve, reject) => {
      const refuse = () => reject(overloaded())
      const job = { principal, source, settle: resolve, refuse }
      this.#queue.add(job)?.refuse()
      this.#wakeAll()
      setTimeout(() => {
        if (this.#queue.remove(job)) refuse()
      }, MAX_QUEUE_MS).unref()
    })
  }

  /** Keeps one thread running. A reserve starts its thread when a source waits and none is idle. */
  async #runSlot(isReserve: boolean): Promise<void> {
    while (!this.#isStopping) {
      if (isReserve && (this.#queue.length === 0 || this.#idleThreads > 0)) {
        await this.#nextWake()
        continue
      }
      try {
        await this.#runThread(await AnalysisThread.start(this.#options))
      } catch (error) {
        this.#options.log.error({ err: error }, 'failed to start analysis thread')
        await new Promise((resolve) => setTimeout(resolve, RESTART_MS))
      }
    }
  }

  async #runThread(thread: AnalysisThread): Promise<void> {
    while (!thread.isSpent && !this.#isStopping) {
      const job = this.#queue.take()
      if (job) job.settle(await thread.analyse(job.source, this.#options))
      else {
        this.#idleThreads++
        await this.#nextWake()
        this.#idleThreads--
      }
    }
    await thread.stop()
  }

  #nextWake(): Promise<void> {
    return new Promise((resolve) => this.#sleepers.push(resolve))
  }

  #wakeAll(): void {
    for (const wake of this.#sleepers.splice(0)) wake()
  }

  #toResult(outcome: WorkerReply | WorkerFailure): DeclaredWorkflow[] {
    if (outcome === 'timeout') {
      throw unreadable(`its analysis takes more than ${this.#options.maxCpuMs} ms; split the file`)
    }
    if (outcome === 'cpu_starved') {
      throw unavailable('The catalog is too busy to analyse the source; retry.')
    }
    if (outcome === 'crashed') {
      throw unreadable('its analysis exceeds the memory limit; split the file')
    }
    if ('workflows' in outcome) return outcome.workflows
    if ('fault' in outcome) {
      const { kind, message, details } = outcome.fault
      throw new Fault(kind, message, details ? { details } : {})
    }
    this.#options.log.error({ reason: outcome.error }, 'failed to analyse source')
    throw unreadable('its analysis failed')
  }
}

const unreadable = (reason: string) => invalid(`Workflow source could not be parsed: ${reason}.`)

const overloaded = () => unavailable('Too many sources are waiting to be analysed; retry.')
