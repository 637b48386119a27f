import { type Abilities, packageIndex } from './domain/matching.ts'
import type { Standing } from './sessions.ts'
import type { Fitness } from './store/streams.ts'

const MAX_SHARED = 256

/** Package lists by their text: whole fleets have one in common, and it is by far the largest part of a record. */
const shared = new Map<string, Abilities['packages']>()

/** What a stored record means for giving the worker work. */
export const standingOf = (fitness: Fitness): Standing => ({
  session_id: fitness.session_id,
  changed_at: fitness.changed_at,
  capacity: fitness.max_concurrent_executions,
  healthy: fitness.healthy,
  abilities: {
    packages: packagesOf(fitness.packages),
    resources: fitness.resources === undefined ? undefined : JSON.parse(fitness.resources),
    labels: JSON.parse(fitness.labels),
    runners: JSON.parse(fitness.runners),
  },
})

function packagesOf(json: string): Abilities['packages'] {
  const known = shared.get(json)
  if (known) return known
  const packages = packageIndex(JSON.parse(json))
  const [oldest] = shared.keys()
  if (oldest !== undefined && shared.size >= MAX_SHARED) shared.delete(oldest)
  shared.set(json, packages)
  return packages
}
