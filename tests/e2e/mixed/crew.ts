import { setTimeout as pause } from 'node:timers/promises'
import type { Arena } from '../arena.ts'
import { insisting } from '../nemesis.ts'
import { Hand } from './hand.ts'
import type { History } from './history.ts'

/** The workers of a run. One that was killed is replaced by a new one. */
export class Crew {
  readonly #a: Arena
  readonly #history: History
  readonly #hands: Hand[] = []
  readonly #gone: Promise<unknown>[] = []

  constructor(a: Arena, history: History) {
    this.#a = a
    this.#history = history
  }

  async hire(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const worker = await this.#a.worker({ url: this.#a.system.url, capacity: 6 })
      await insisting(() => worker.register())
      await insisting(() => worker.connect())
      this.#hands.push(new Hand(worker, this.#history))
    }
  }

  async replace(): Promise<void> {
    const hand = this.#hands.shift()
    if (hand) this.#gone.push(hand.rest())
    await this.hire(1)
  }

  /** One hangs for a while, long enough to lose what it has. */
  async hang(ms: number): Promise<void> {
    const goOn = this.#hands.at(-1)?.hang()
    await pause(ms)
    goOn?.()
  }

  async rest(): Promise<void> {
    await Promise.all([...this.#gone, ...this.#hands.map((hand) => hand.rest())])
  }
}
