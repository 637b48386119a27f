import { LRUCache } from 'lru-cache'
import { type Capabilities, packageIndex } from '../domain/matching.ts'
import type { StoredWorkerState } from '../store/streams.ts'
import type { WorkerState } from './connected-workers.ts'

type Packages = ReturnType<Capabilities['packages']>

const MAX_PACKAGE_LISTS = 256

interface PackageList {
  json: string
  /** Parsed at the first use. */
  packages?: Packages
}

/**
 * Package lists by their JSON text. They are the largest part of a record, and the workers of a fleet
 * often share one: each text is kept once, and parsed only if a requirement names packages.
 */
const packageLists = new LRUCache<string, PackageList>({ max: MAX_PACKAGE_LISTS })

/** Builds the state of a connected worker from its stored row and record. */
export function toWorkerState(stored: StoredWorkerState): WorkerState {
  const list = internPackageList(stored.packages)
  return {
    session_id: stored.session_id,
    changed_at: stored.changed_at,
    capacity: stored.max_concurrent_executions,
    healthy: stored.healthy,
    claims_by_delivery: stored.claims_by_delivery,
    keeps_workflows: stored.keeps_workflows,
    continues_cancelled: stored.continues_cancelled,
    capabilities: {
      packages: () => {
        list.packages ??= packageIndex(JSON.parse(list.json))
        return list.packages
      },
      resources: stored.resources === undefined ? undefined : JSON.parse(stored.resources),
      labels: JSON.parse(stored.labels),
      runners: JSON.parse(stored.runners),
      namespaces: stored.namespaces === undefined ? undefined : JSON.parse(stored.namespaces),
    },
  }
}

function internPackageList(json: string): PackageList {
  const list = packageLists.get(json) ?? { json }
  packageLists.set(json, list)
  return list
}
