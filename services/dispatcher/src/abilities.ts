import { type Abilities, packageIndex } from './domain/matching.ts'
import type { Standing } from './sessions.ts'
import type { Fitness } from './store/streams.ts'

type Packages = ReturnType<Abilities['packages']>

const MAX_KNOWN = 256

interface PackageList {
  json: string
  /** Parsed when somebody asks. */
  packages?: Packages
}

/**
 * Package lists by their text. They are by far the largest part of a record, and whole fleets have
 * one in common: so each text is kept once, and few requirements ask for what it says.
 */
const known = new Map<string, PackageList>()

/** What a stored record means for giving the worker work. */
export function standingOf(fitness: Fitness): Standing {
  const list = packageList(fitness.packages)
  return {
    session_id: fitness.session_id,
    changed_at: fitness.changed_at,
    capacity: fitness.max_concurrent_executions,
    healthy: fitness.healthy,
    abilities: {
      packages: () => {
        list.packages ??= packageIndex(JSON.parse(list.json))
        return list.packages
      },
      resources: fitness.resources === undefined ? undefined : JSON.parse(fitness.resources),
      labels: JSON.parse(fitness.labels),
      runners: JSON.parse(fitness.runners),
    },
  }
}

function packageList(json: string): PackageList {
  const found = known.get(json)
  if (found) return found
  const list = { json }
  const [oldest] = known.keys()
  if (oldest !== undefined && known.size >= MAX_KNOWN) known.delete(oldest)
  known.set(json, list)
  return list
}
