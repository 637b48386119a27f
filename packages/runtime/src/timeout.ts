/**
 * Calls `expire` after `ms` milliseconds, after the poll phase of the event loop: timers fire first when this process
 * was itself suspended or busy, and an answer that waits in a socket then counts as in time. Returns what prevents the call.
 */
export function startTimeLimit(ms: number, expire: () => void): () => void {
  let check: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    check = setImmediate(expire)
  }, ms)
  return () => {
    clearTimeout(timer)
    clearImmediate(check)
  }
}

/** Waits for a promise, for at most `ms` milliseconds; rejects if the promise rejects within that time. */
export async function waitAtMost(ms: number, promise: Promise<unknown>): Promise<void> {
  let release = () => {}
  // No signal of `timers/promises`, which would create an error for each wait.
  const elapsed = new Promise<void>((resolve) => {
    release = startTimeLimit(ms, resolve)
  })
  try {
    await Promise.race([promise, elapsed])
  } finally {
    release()
  }
}
