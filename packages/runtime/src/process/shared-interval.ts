interface SharedTimer {
  timer: NodeJS.Timeout
  runs: Set<() => void>
}

const timers = new Map<number, SharedTimer>()

/**
 * Runs `run` in each interval until the returned function is called; the first time may be earlier. All users of one
 * interval in a process share a timer, which wakes an idle process once for all of them, and does not keep it alive.
 */
export function startSharedInterval(ms: number, run: () => void): () => void {
  const shared = timers.get(ms) ?? startTimer(ms)
  // Its own function: the same one may be started twice.
  const own = () => run()
  shared.runs.add(own)
  return () => {
    shared.runs.delete(own)
    if (shared.runs.size > 0 || timers.get(ms) !== shared) return
    clearInterval(shared.timer)
    timers.delete(ms)
  }
}

function startTimer(ms: number): SharedTimer {
  const runs = new Set<() => void>()
  const runAll = () => {
    for (const run of [...runs]) run()
  }
  const shared = { timer: setInterval(runAll, ms).unref(), runs }
  timers.set(ms, shared)
  return shared
}
