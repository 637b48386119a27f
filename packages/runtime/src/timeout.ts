import { setTimeout as pause } from 'node:timers/promises'

/** Waits for a promise, for at most `ms` milliseconds; rejects if the promise rejects within that time. */
export async function waitAtMost(ms: number, promise: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  const elapsed = pause(ms, undefined, { signal: done.signal }).catch(() => {})
  try {
    await Promise.race([promise, elapsed])
  } finally {
    done.abort()
  }
}
