import { Batcher } from '@windlass/runtime/batcher'
import { readClock } from '@windlass/runtime/postgres/clock'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Command } from '../engine/command.ts'
import type { ParsedCommand } from './commands.ts'

/**
 * Clock that decides how long a parked execution waits. It is that of the database, which also decides when the
 * wait is over: with the clock of this process, a replica whose clock is fast would find each time reached and
 * queue the execution again and again, and a slow one would wake it late. Parks of one turn share a read.
 */
export class WaitClock {
  readonly #reads: Batcher<undefined, Date>

  constructor(db: Db) {
    this.#reads = new Batcher(
      async (callers) => {
        const now = await readClock(db)
        return callers.map(() => now)
      },
      { perTick: true },
    )
  }

  /** Returns the command with the duration until its `wake_at`; any other command unchanged. */
  async withWait({
    command,
    wake_at,
  }: Pick<ParsedCommand, 'command' | 'wake_at'>): Promise<Command> {
    if (command.kind !== 'release' || !command.park || !wake_at) return command
    const now = await this.#reads.add(undefined)
    return { ...command, park: { ...command.park, wait_ms: wake_at.getTime() - now.getTime() } }
  }
}
