/**
 * Early eviction: a worker whose own process has ended is evicted before `heartbeat_timeout +
 * eviction_grace_period` has passed.
 *
 * Problem. A killed worker closes its stream at once, but a closed stream alone does not show that the
 * worker is gone: gateways, dispatchers, load balancers and networks close streams too, and their
 * workers live and reconnect.
 *
 * A worker is evicted early only if all of these hold:
 *  - it promised `reconnect_grace` at registration: it reconnects within this time;
 *  - a gateway reports that the worker closed the connection, while the gateway itself was running and
 *    connected to the dispatcher. If a gateway or a dispatcher dies, or the network between them fails,
 *    there is no such report;
 *  - since then it has neither connected, nor sent a pong or any other request, for the promised time;
 *  - it did not leave together with others: at least two workers, and more than a quarter of the fleet,
 *    within DEPARTURE_WINDOW_S. Those are rather behind a load balancer that failed.
 * Otherwise the silence since the last pong decides (eviction-guard.ts). Both wait for the guard.
 *
 *   stream closed, reported ──── quiet for max(reconnect_grace, DEPARTURE_WINDOW_S) ────► next tick: evicted
 *              └─ any other departure within DEPARTURE_WINDOW_S before or after counts
 *
 * Not guaranteed: early eviction. A report may be lost, or come from an older gateway that sends none.
 */

/** Departures within this time of each other count as simultaneous. */
export const DEPARTURE_WINDOW_S = 5
const FLEET_SHARE = 1 / 4
const FEWEST_TOGETHER = 2

export interface Departure {
  name: string
  /** Seconds since the end of its stream. */
  age_s: number
}

interface Fleet {
  /** Departures that may be within the window of a candidate, including the candidates themselves. */
  departures: readonly Departure[]
  /** Number of connected workers that are not among the departures. */
  staying: number
}

/**
 * Divides candidates for early eviction: those that were lost on their own, and those that departed
 * together with many others.
 */
export function divideCandidates(
  candidates: readonly string[],
  { departures, staying }: Fleet,
): { lost: string[]; together: string[] } {
  const simultaneous = namesDepartedTogether(departures, departures.length + staying)
  return {
    lost: candidates.filter((name) => !simultaneous.has(name)),
    together: candidates.filter((name) => simultaneous.has(name)),
  }
}

/** Names of all departures within any window that contains too large a part of the fleet. */
function namesDepartedTogether(departures: readonly Departure[], fleetSize: number): Set<string> {
  const ordered = [...departures].sort((a, b) => a.age_s - b.age_s)
  const names = new Set<string>()
  let first = 0
  let added = 0
  for (const [last, { age_s }] of ordered.entries()) {
    while (age_s - (ordered[first]?.age_s ?? age_s) > DEPARTURE_WINDOW_S) first++
    const count = last - first + 1
    if (count < FEWEST_TOGETHER || count <= fleetSize * FLEET_SHARE) continue
    for (const { name } of ordered.slice(Math.max(first, added), last + 1)) names.add(name)
    added = last + 1
  }
  return names
}
