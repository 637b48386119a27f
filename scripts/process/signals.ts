import { setMaxListeners } from 'node:events'

const stopping = new AbortController()

/** Aborted when this process must stop; running work is bound to it. */
export const stopSignal: AbortSignal = stopping.signal
setMaxListeners(0, stopSignal) // one listener for each running program

/**
 * Aborts `stopSignal` on the stop signals of the operating system, on a closed stdout and, if requested,
 * at the end of stdin. Further signals are ignored: a terminal sends
 * Ctrl-C to every process of a command, and npm sends it on once more.
 */
export function catchSignals({ orStdinCloses = false } = {}): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => requestStop(name))
  process.stdout.on('error', () => requestStop('its reader'))
  process.stderr.on('error', () => requestStop('its reader'))
  if (!orStdinCloses) return
  process.stdin.resume().once('end', () => requestStop('the end of stdin'))
  stopSignal.addEventListener('abort', () => process.stdin.destroy())
}

/** Aborts `stopSignal`; the first reason is kept. */
export function requestStop(reason: string): void {
  stopping.abort(new Error(`stopped by ${reason}`))
}

/** Resolves when this process must stop. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    if (stopSignal.aborted) resolve()
    stopSignal.addEventListener('abort', () => resolve())
  })
}
