import { type Loop, loop } from '@windlass/runtime/process/loop'
import type { Parts } from '../parts.ts'
import { round } from './round.ts'

/** Looks this often even when nothing is known to become due: another replica may have stored something. */
const POLL_MS = 1_000
/** Ticks that are closer together than this are taken together. */
const SHORTEST_MS = 20

/**
 * Runs rounds when something is due, by the database's clock, and at least once a second. Timers
 * are never longer than that, however far away the next tick is.
 */
export function startClock(parts: Parts): Loop {
  let timer: NodeJS.Timeout | undefined
  const clock = loop({ name: 'clock', pauseMs: POLL_MS, log: parts.log }, async () => {
    clearTimeout(timer)
    const waitMs = await round(parts).catch((error: unknown) => {
      parts.log.error({ err: error }, 'round of the clock failed')
      return POLL_MS
    })
    if (waitMs < POLL_MS) timer = setTimeout(() => clock.wake(), Math.max(waitMs, SHORTEST_MS))
  })
  return {
    wake: () => clock.wake(),
    async stop() {
      clearTimeout(timer)
      await clock.stop()
      clearTimeout(timer)
    },
  }
}
