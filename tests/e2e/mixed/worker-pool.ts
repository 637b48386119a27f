import { setTimeout as pause } from 'node:timers/promises'
import type { ExecutionFixture } from '../execution-fixture.ts'
import { retryUntilAnswered } from '../fault-injection.ts'
import type { History } from './history.ts'
import { ProgramWorker } from './program-worker.ts'

/**
 * The workers of a run: every other one announces `claim_by_delivery`. A killed worker is replaced by a new one.
 */
export class WorkerPool {
  readonly #a: ExecutionFixture
  readonly #history: History
  readonly #workers: ProgramWorker[] = []
  readonly #stopping: Promise<unknown>[] = []
  #added = 0

  constructor(a: ExecutionFixture, history: History) {
    this.#a = a
    this.#history = history
  }

  async add(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const features = this.#added++ % 2 === 0 ? [] : ['claim_by_delivery']
      const worker = await this.#a.worker({ url: this.#a.system.url, capacity: 6, features })
      await retryUntilAnswered(() => worker.register())
      await retryUntilAnswered(() => worker.connect())
      this.#workers.push(new ProgramWorker(worker, this.#history))
    }
  }

  async replace(): Promise<void> {
    const worker = this.#workers.shift()
    if (worker) this.#stopping.push(worker.stop())
    await this.add(1)
  }

  /** Hangs one worker for `ms`: longer than the eviction time, it loses its claims. */
  async hang(ms: number): Promise<void> {
    const resume = this.#workers.at(-1)?.hang()
    await pause(ms)
    resume?.()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#stopping, ...this.#workers.map((worker) => worker.stop())])
  }
}
