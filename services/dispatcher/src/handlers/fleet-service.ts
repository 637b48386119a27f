import type {
  ExplainResponse,
  FleetService,
  Verdict,
} from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import type { Requirement } from '@windlass/proto/windlass/matching/v1/matching'
import type { Handlers } from '@windlass/rpc/call'
import type { Db } from '@windlass/runtime/postgres/db'
import { unmetRequirements } from '../domain/matching.ts'
import { statusOf } from '../domain/presence.ts'
import { toWorkerState } from '../engine/capabilities.ts'
import * as fleet from '../store/fleet-members.ts'
import { handlePongs, type PongDeps } from './pong.ts'
import { recordPresence } from './report-presence.ts'

const PAGE_WORKERS = 500
const MAX_WORKERS = 10_000
const NO_CAPABILITIES = { resources: undefined, packages: () => new Map(), labels: {}, runners: [] }
const ANY: Requirement = { packages: [], affinity: {}, runner: '' }

export const fleetHandlers = (service: PongDeps & { db: Db }): Handlers<FleetService> => ({
  explain: ({ requirement = ANY }) => explain(service.db, requirement),
  pongs: ({ pongs }) => handlePongs(service, pongs),
  reportPresence: (report) => recordPresence(service.db, report),
})

/** Reads page by page: the package lists of a whole fleet would be one large result. */
async function explain(db: Db, requirement: Requirement): Promise<ExplainResponse> {
  const verdicts: Verdict[] = []
  while (verdicts.length < MAX_WORKERS) {
    const rows = await fleet.page(db, {
      after: verdicts.at(-1)?.name ?? '',
      limit: PAGE_WORKERS,
      withPackages: requirement.packages.length > 0,
    })
    verdicts.push(...rows.map((row) => toVerdict(row, requirement)))
    if (rows.length < PAGE_WORKERS) break
  }
  return { verdicts, needs: [...unmetRequirements(requirement, NO_CAPABILITIES)] }
}

function toVerdict(row: fleet.FleetMember, requirement: Requirement): Verdict {
  const { capabilities, capacity } = toWorkerState(row)
  return {
    name: row.name,
    status: statusOf(row),
    lacking: [...unmetRequirements(requirement, capabilities)],
    capacity,
    namespaces: capabilities.namespaces && { names: [...capabilities.namespaces] },
  }
}
