/** Waits for a promise, for at most `ms` milliseconds; rejects if the promise rejects within that time. */
export async function waitAtMost(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  // A plain timer: ending one of `timers/promises` by a signal creates an error for each wait.
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    await Promise.race([promise, elapsed])
  } finally {
    clearTimeout(timer)
  }
}
