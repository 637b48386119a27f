import { type Abilities, packageIndex } from './domain/matching.ts'
import type { Standing } from './sessions.ts'
import type { Fitness } from './store/streams.ts'

type Packages = ReturnType<Abilities['packages']>

const MAX_PARSED = 256

/**
 * Package lists by their text. They are by far the largest part of a record, whole fleets have one
 * in common, and few requirements ask for them: so the text is kept, and parsed when it is asked for.
 */
const parsed = new Map<string, { json: string; packages: Packages }>()

/** What a stored record means for giving the worker work. */
export function standingOf(fitness: Fitness): Standing {
  const json = parsed.get(fitness.packages)?.json ?? fitness.packages
  return {
    session_id: fitness.session_id,
    changed_at: fitness.changed_at,
    capacity: fitness.max_concurrent_executions,
    healthy: fitness.healthy,
    abilities: {
      packages: () => packagesOf(json),
      resources: fitness.resources === undefined ? undefined : JSON.parse(fitness.resources),
      labels: JSON.parse(fitness.labels),
      runners: JSON.parse(fitness.runners),
    },
  }
}

function packagesOf(json: string): Packages {
  const known = parsed.get(json)
  if (known) return known.packages
  const packages = packageIndex(JSON.parse(json))
  const [oldest] = parsed.keys()
  if (oldest !== undefined && parsed.size >= MAX_PARSED) parsed.delete(oldest)
  parsed.set(json, { json, packages })
  return packages
}
