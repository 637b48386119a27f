import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from './logs.mjs'
import { stopSignal } from './signals.mjs'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 15_000
const STEADY_MS = 60_000 // a child that lived this long has no history
const FAILURES_MAX = 10

/** How long to wait before the restart that follows this many quick deaths. */
export function pauseAfter(failures) {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
}

/**
 * Starts a child again, on the same ports, each time it ends by itself, and says so. Resolves when
 * this process is to stop; throws when the child does not stay alive. One that is `expendable` may
 * die as often as it likes: a worker runs what people upload, and that may kill it.
 */
export async function keepAlive({ processes, progress }, child) {
  const { expendable = false } = child.program
  let current = child
  let failures = 0
  for (;;) {
    const began = Date.now()
    const end = await current.exited
    if (stopSignal.aborted) return
    failures = Date.now() - began > STEADY_MS ? 1 : failures + 1
    const what = `${current.name} ended (${describe(end)}); its log: ${current.logFile}`
    if (failures > FAILURES_MAX && !expendable)
      throw new Error(`${what}\nIt does not stay alive, so all is stopped.`)
    const pauseMs = pauseAfter(failures)
    progress.note(`! ${what}; starting it again in ${pauseMs / 1000} s`)
    await sleep(pauseMs, undefined, { signal: stopSignal }).catch(() => {})
    if (stopSignal.aborted) return
    current = processes.start(current.program)
  }
}
