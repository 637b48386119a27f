import type { Logger } from 'pino'
import { loopRounds } from '../metrics/metrics.ts'

const MAX_BACKOFF_MS = 5_000
/** Timers can fire a little early: a round so close before its time counts as the one of that time. */
const EARLY_MS = 5

export interface Loop {
  /** Ends the pause. Any number of calls during a round cause one more round. */
  wake(): void
  /** Resolves after the current round. */
  stop(): Promise<void>
}

export interface LoopOptions {
  name: string
  pauseMs: number
  log: Logger
  /** Milliseconds by which a wake-up is delayed, so that several cause one round; 0 unless set. */
  wakeDelayMs?: number
}

/** Milliseconds of pause after this number of consecutive failures: exponential, up to MAX_BACKOFF_MS. */
export const pauseAfter = (failures: number, pauseMs: number): number =>
  Math.min(pauseMs * 2 ** Math.min(failures, 10), Math.max(pauseMs, MAX_BACKOFF_MS))

/**
 * Milliseconds until the next multiple of `pauseMs`: loops with the same pause, or a multiple of it, run in the same
 * turn of the event loop, so that together they wake an idle process once.
 */
export const pauseUntilDue = (nowMs: number, pauseMs: number): number => {
  const leftMs = pauseMs - (nowMs % pauseMs)
  return leftMs < Math.min(EARLY_MS, pauseMs / 2) ? leftMs + pauseMs : leftMs
}

/**
 * Repeats `work` with a pause between rounds until stopped: up to the next multiple of `pauseMs` on the clock of this
 * process. A round that answers true has more to do and is followed by the next at once. A round that throws is
 * logged and repeated after a growing pause of at most five seconds, since what it needs may be available again at
 * any time.
 */
export function loop(
  { name, pauseMs, log, wakeDelayMs = 0 }: LoopOptions,
  work: () => Promise<unknown>,
): Loop {
  let stopping = false
  let isWoken = false
  let endPause: () => void = () => {}
  let failures = 0

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const pause = () =>
    failures === 0 ? pauseUntilDue(performance.now(), pauseMs) : pauseAfter(failures, pauseMs)

  const round = async (): Promise<boolean> => {
    try {
      const more = (await work()) === true
      failures = 0
      loopRounds.add(1, { loop: name, outcome: 'ok' })
      return more
    } catch (error) {
      failures++
      loopRounds.add(1, { loop: name, outcome: 'failed' })
      log.error({ err: error, loop: name, failures }, 'loop round failed')
      return false
    }
  }

  const running = (async () => {
    while (!stopping) {
      isWoken = false
      if (await round()) continue
      if (stopping || (isWoken && failures === 0)) continue
      await rest(pause())
    }
  })()

  let delayed: NodeJS.Timeout | undefined
  const wakeNow = () => {
    delayed = undefined
    isWoken = true
    endPause()
  }
  return {
    wake() {
      if (wakeDelayMs === 0) wakeNow()
      else delayed ??= setTimeout(wakeNow, wakeDelayMs)
    },
    async stop() {
      stopping = true
      clearTimeout(delayed)
      endPause()
      await running
    },
  }
}
