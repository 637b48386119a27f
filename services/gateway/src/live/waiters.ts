import { LogGrew, Progress } from '@windlass/proto/windlass/signals/v1/signals'
import type { Bus } from '@windlass/runtime/bus'
import type { Logger } from '@windlass/runtime/log'
import { type Loop, loop } from '@windlass/runtime/loop'
import type { Executions } from '../executions.ts'
import { Shared } from './shared.ts'

const POLL_MS = 1_000

/** What this process hears of executions that somebody here waits for. Whatever is quiet for a second is looked at. */
export class Waiters {
  readonly grew: Shared<LogGrew>
  readonly progress: Shared<Progress>
  readonly #executions: Executions
  readonly #poll: Loop

  constructor(bus: Bus, executions: Executions, log: Logger) {
    this.#executions = executions
    this.grew = new Shared(bus, (id) => `executions.${id}.events`, LogGrew.decode)
    this.progress = new Shared(bus, (id) => `executions.${id}.progress`, Progress.decode)
    this.#poll = loop({ name: 'poll', pauseMs: POLL_MS, log }, () => this.#lookAtQuiet())
  }

  stop(): Promise<void> {
    return this.#poll.stop()
  }

  async #lookAtQuiet(): Promise<void> {
    // What cannot be seen now is looked at again in a second.
    const look = (execution_id: string) =>
      this.#executions.find(execution_id).catch(() => undefined)
    const found = await Promise.all(this.grew.takeQuiet().map(look))
    for (const execution of found) {
      if (!execution) continue
      const { execution_id, state, last_seq } = execution
      this.grew.tell(execution_id, {
        execution_id,
        state,
        last_seq,
        entries: [],
        omitted: true,
        ended: undefined,
      })
    }
  }
}
