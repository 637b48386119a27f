/**
 * Runs `operation` over and over with `inFlight` of them at any time, for `seconds`; answers how
 * many ended, over how long, and their latencies in milliseconds. A failed one stops the run.
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

/** The nearest-rank percentile of some numbers. */
export function percentile(numbers, p) {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN
}
