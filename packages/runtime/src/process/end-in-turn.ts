import { setTimeout as pause } from 'node:timers/promises'

const PER_STREAM_MS = 12
const STEP_MS = 20

/**
 * Ends open streams one after another, PER_STREAM_MS apart or within `maxMs`, so that the reconnects to other replicas
 * are spread over time.
 */
export async function endInTurn<T>(
  open: readonly T[],
  end: (stream: T) => void,
  maxMs: number,
): Promise<void> {
  const spreadMs = Math.min(maxMs, open.length * PER_STREAM_MS)
  const start = performance.now()
  let ended = 0
  while (ended < open.length) {
    const share = (performance.now() - start) / spreadMs
    const due = Math.min(open.length, Math.floor(share * open.length) + 1)
    for (const stream of open.slice(ended, due)) end(stream)
    ended = due
    if (ended < open.length) await pause(STEP_MS)
  }
}
