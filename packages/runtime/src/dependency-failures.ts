/** Counts by dependency (`redis`, `nats`, `executions`) and kind of failure. */
const counts = new Map<string, number>()

/** Counts a call that a dependency did not answer in time. Every breaker and deadline reports here. */
export function countDependencyFailure(
  dependency: string,
  kind: 'timeout' | 'unresponsive' | 'unavailable',
): void {
  const key = `${dependency} ${kind}`
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** Counts since the start of this process, by `<dependency> <kind>`. */
export const dependencyFailures = (): ReadonlyMap<string, number> => counts
