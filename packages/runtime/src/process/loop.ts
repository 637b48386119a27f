import type { Logger } from 'pino'

const MAX_BACKOFF_MS = 5_000

export interface Loop {
  /** Runs once more without waiting for the pause to end. Many pokes while it runs make one more run. */
  wake(): void
  /** Ends after the round under way. */
  stop(): Promise<void>
}

export interface LoopOptions {
  name: string
  pauseMs: number
  log: Logger
  /** How long a poke waits for others to go with it; at once unless set. */
  wakeDelayMs?: number
}

/** How long a loop rests after so many failures in a row. */
export const pauseAfter = (failures: number, pauseMs: number): number =>
  Math.min(pauseMs * 2 ** Math.min(failures, 10), Math.max(pauseMs, MAX_BACKOFF_MS))

/**
 * Repeats `work` with a pause between rounds until stopped. A round that answers true has
 * more to do and is followed at once. One that throws is logged and tried again, with growing pauses
 * up to five seconds: what it needs may be back at any moment.
 */
export function loop(
  { name, pauseMs, log, wakeDelayMs = 0 }: LoopOptions,
  work: () => Promise<unknown>,
): Loop {
  let stopping = false
  let poked = false
  let wake: () => void = () => {}
  let failures = 0

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const round = async (): Promise<boolean> => {
    try {
      const more = (await work()) === true
      failures = 0
      return more
    } catch (error) {
      failures++
      log.error({ err: error, loop: name, failures }, 'loop round failed')
      return false
    }
  }

  const running = (async () => {
    while (!stopping) {
      poked = false
      if (await round()) continue
      if (stopping || (poked && failures === 0)) continue
      await rest(pauseAfter(failures, pauseMs))
    }
  })()

  let gathering: NodeJS.Timeout | undefined
  const poke = () => {
    gathering = undefined
    poked = true
    wake()
  }
  return {
    wake() {
      if (wakeDelayMs === 0) poke()
      else gathering ??= setTimeout(poke, wakeDelayMs)
    },
    async stop() {
      stopping = true
      clearTimeout(gathering)
      wake()
      await running
    },
  }
}
