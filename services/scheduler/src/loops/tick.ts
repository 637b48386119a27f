import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { SchedulerDeps } from '../engine/deps.ts'
import { runDueWork } from './due-work.ts'

/** Polls at this interval even if no work is expected: another replica may have stored a schedule. */
const POLL_INTERVAL_MS = 1_000
/** Minimum delay between two runs, so that ticks that are due close together share one transaction. */
const MIN_WAIT_MS = 20

/**
 * Runs due work when the next tick is due, by the database's clock, and at least once a second. The
 * timer is therefore never longer than a second, however far away the next tick is: a longer one
 * would miss changes of other replicas, and Node limits timers to 2^31 ms. An idle replica costs one
 * statement a second. `engine/fire.ts` explains what a tick guarantees.
 */
export function startTickLoop(deps: SchedulerDeps): Loop {
  let timer: NodeJS.Timeout | undefined
  const tickLoop = loop({ name: 'ticks', pauseMs: POLL_INTERVAL_MS, log: deps.log }, async () => {
    clearTimeout(timer)
    const waitMs = await runDueWork(deps).catch((error: unknown) => {
      deps.log.error({ err: error }, 'failed to run due work')
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
