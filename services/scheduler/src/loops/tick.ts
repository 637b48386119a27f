import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { SchedulerDeps } from '../engine/deps.ts'
import { runDueWork } from './due-work.ts'

/** Looks this often even when nothing is known to become due: another replica may have stored something. */
const POLL_INTERVAL_MS = 1_000
/** Ticks that are closer together than this are taken together. */
const MIN_WAIT_MS = 20

/**
 * Runs rounds when something is due, by the database's clock, and at least once a second. Timers
 * are never longer than that, however far away the next tick is.
 */
export function startTickLoop(deps: SchedulerDeps): Loop {
  let timer: NodeJS.Timeout | undefined
  const tickLoop = loop({ name: 'clock', pauseMs: POLL_INTERVAL_MS, log: deps.log }, async () => {
    clearTimeout(timer)
    const waitMs = await runDueWork(deps).catch((error: unknown) => {
      deps.log.error({ err: error }, 'round of the clock failed')
      return POLL_INTERVAL_MS
    })
    if (waitMs < POLL_INTERVAL_MS)
      timer = setTimeout(() => tickLoop.wake(), Math.max(waitMs, MIN_WAIT_MS))
  })
  return {
    wake: () => tickLoop.wake(),
    async stop() {
      clearTimeout(timer)
      await tickLoop.stop()
      clearTimeout(timer)
    },
  }
}
