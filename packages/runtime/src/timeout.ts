import { setTimeout as pause } from 'node:timers/promises'

/** Waits until it has come, but no longer than `ms`; rejects when it rejects within that time. */
export async function waitAtMost(ms: number, coming: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  const enough = pause(ms, undefined, { signal: done.signal }).catch(() => {})
  try {
    await Promise.race([coming, enough])
  } finally {
    done.abort()
  }
}
