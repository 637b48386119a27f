import type { Logger } from '../process/log.ts'
import { retry } from '../retry.ts'
import { toOutageFault } from './outage.ts'

/** Recovery after a crash replays the log since the last checkpoint: minutes at most. */
const START_WAIT_MS = 300_000
const PAUSE_MS = 500
const LOG_MS = 10_000

/**
 * Repeats the first statement of a process while PostgreSQL is unavailable, starts or recovers, for up to
 * five minutes. Other errors, such as a wrong password, are thrown at once. `onWait` is called at the first
 * failure and then every ten seconds.
 */
export async function waitForPostgres<T>(
  connect: () => Promise<T>,
  onWait: (error: Error) => void,
): Promise<T> {
  let loggedMs = Number.NEGATIVE_INFINITY
  const isRetryable = (error: unknown) => {
    if (!toOutageFault(error)) return false
    const now = performance.now()
    if (now - loggedMs >= LOG_MS) {
      loggedMs = now
      onWait(error as Error)
    }
    return true
  }
  return await retry(connect, { budgetMs: START_WAIT_MS, pauseMs: PAUSE_MS, isRetryable })
}

/**
 * Reads what a service needs before it starts: waits like `waitForPostgres`, and logs that it waits. The
 * first statement has succeeded by then, but each further one may need a connection of its own, and a busy
 * or failing-over server must not end the process.
 */
export const readAtStart = <T>(log: Logger, read: () => Promise<T>): Promise<T> =>
  waitForPostgres(read, (error) => log.warn({ err: error }, 'PostgreSQL unavailable; waiting'))
