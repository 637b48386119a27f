import { unavailable } from '@windlass/runtime/faults'
import type { Caller } from './caller.ts'
import { principalKey } from './quotas.ts'

/** Maximum number of expensive reads of one principal that run at the same time in this gateway. */
const MAX_RUNNING = 4
/** Maximum number of reads of one principal that wait for their turn. */
const MAX_WAITING = 60

interface Turns {
  running: number
  waiting: (() => void)[]
}

/**
 * Lets each principal do a few expensive reads at a time. They are searches, statistics and reads of whole
 * logs, for which the services have few connections (`openReads` of packages/rpc); forecasts of schedules,
 * which take about a second of the scheduler; and comparisons of sources. Otherwise one caller with many
 * requests would use up this capacity.
 */
export class ReadTurns {
  readonly #turns = new Map<string, Turns>()

  /**
   * Runs a handler; one of an expensive route waits for the caller's turn. Throws `unavailable` if too many
   * wait.
   */
  run<T>(route: { isExpensive?: boolean }, caller: Caller, read: () => Promise<T>): Promise<T> {
    return route.isExpensive ? this.#runInTurn(principalKey(caller), read) : read()
  }

  async #runInTurn<T>(principal: string, read: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(principal) ?? { running: 0, waiting: [] }
    this.#turns.set(principal, turns)
    if (turns.running < MAX_RUNNING) turns.running++
    else await wait(turns)
    try {
      return await read()
    } finally {
      this.#pass(principal, turns)
    }
  }

  #pass(principal: string, turns: Turns): void {
    const next = turns.waiting.shift()
    if (next) next()
    else if (--turns.running === 0) this.#turns.delete(principal)
  }
}

function wait({ waiting }: Turns): Promise<void> {
  if (waiting.length >= MAX_WAITING)
    throw unavailable(
      `you have ${MAX_RUNNING + MAX_WAITING} expensive reads at a time; retry later`,
    )
  return new Promise((resolve) => {
    waiting.push(resolve)
  })
}
