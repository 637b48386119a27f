/**
 * Runs `operation` repeatedly, `inFlight` at a time, for `seconds` (a closed loop). Returns the number
 * of operations, the duration, and the latencies in milliseconds. Rejects if an operation fails.
 */
export async function closedLoop(operation, { inFlight, seconds }) {
  const latencies = []
  const start = performance.now()
  const end = start + seconds * 1_000
  const one = async () => {
    while (performance.now() < end) {
      const begun = performance.now()
      await operation()
      latencies.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, one))
  return { count: latencies.length, seconds: (performance.now() - start) / 1_000, latencies }
}

/**
 * Begins `rate` operations a second for `seconds`, with at most `maxInFlight` at a time: fewer if they take too long.
 * `operation` gets its number. Returns their number. Rejects if an operation fails.
 */
export async function pacedLoop(operation, { rate, maxInFlight, seconds }) {
  const start = performance.now()
  const end = start + seconds * 1_000
  let begun = 0
  let count = 0
  const one = async () => {
    for (;;) {
      const n = begun++
      const due = Math.max(start + (n * 1_000) / rate, performance.now())
      if (due >= end) return
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
      await operation(n)
      count++
    }
  }
  await Promise.all(Array.from({ length: maxInFlight }, one))
  return { count }
}

/** Returns the nearest-rank percentile. */
export function percentile(numbers, p) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN
}
