import { setTimeout as pause } from 'node:timers/promises'
import type { ExecutionFixture } from '../execution-fixture.ts'
import { retryUntilAnswered } from '../fault-injection.ts'
import type { History } from './history.ts'
import { ProgramWorker } from './program-worker.ts'

/** The workers of a run. One that was killed is replaced by a new one. */
export class WorkerPool {
  readonly #a: ExecutionFixture
  readonly #history: History
  readonly #hands: ProgramWorker[] = []
  readonly #gone: Promise<unknown>[] = []

  constructor(a: ExecutionFixture, history: History) {
    this.#a = a
    this.#history = history
  }

  async add(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const worker = await this.#a.worker({ url: this.#a.system.url, capacity: 6 })
      await retryUntilAnswered(() => worker.register())
      await retryUntilAnswered(() => worker.connect())
      this.#hands.push(new ProgramWorker(worker, this.#history))
    }
  }

  async replace(): Promise<void> {
    const hand = this.#hands.shift()
    if (hand) this.#gone.push(hand.stop())
    await this.add(1)
  }

  /** One hangs for a while, long enough to lose what it has. */
  async hang(ms: number): Promise<void> {
    const goOn = this.#hands.at(-1)?.hang()
    await pause(ms)
    goOn?.()
  }

  async rest(): Promise<void> {
    await Promise.all([...this.#gone, ...this.#hands.map((hand) => hand.stop())])
  }
}
