import { setTimeout as sleep } from 'node:timers/promises'
import { describe } from '../process/logs.ts'
import type { Child, Processes } from '../process/processes.ts'
import { stopSignal } from '../process/signals.ts'
import type { Progress } from '../setup/progress.ts'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 15_000
const STEADY_MS = 60_000 // after this uptime earlier failures are forgotten
const FAILURES_MAX = 10

/** Returns the delay in ms before a restart, after this many failures in quick succession. */
export function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
}

/**
 * Restarts a child on the same ports whenever it ends, and prints a note. Resolves when this process
 * must stop; throws if the child ends too often. An `expendable` child may end any number of times: a
 * worker runs uploaded code, which may kill it.
 */
export async function keepAlive(
  { processes, progress }: { processes: Processes; progress: Progress },
  child: Child,
): Promise<void> {
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
      throw new Error(`${what}\nIt ended too often; the system stops.`)
    const pauseMs = pauseAfter(failures)
    progress.note(`! ${what}; starting it again in ${pauseMs / 1000} s`)
    await sleep(pauseMs, undefined, { signal: stopSignal }).catch(() => {})
    if (stopSignal.aborted) return
    current = processes.start(current.program)
  }
}
