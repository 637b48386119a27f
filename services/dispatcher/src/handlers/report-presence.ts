import type {
  ReportPresenceRequest,
  ReportPresenceResponse,
} from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { parseId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import * as departures from '../store/departure-rows.ts'

/** Longest age of a report that counts; a gateway repeats a report for some seconds. */
const MAX_AGE_MS = 10_000

/**
 * Stores which workers have closed their streams, and which have sent something since
 * (domain/departures.ts).
 */
export async function recordPresence(
  db: Db,
  { closed, active }: ReportPresenceRequest,
): Promise<ReportPresenceResponse> {
  if (closed.length > 0) await departures.recordClosed(db, closed.map(withAge))
  if (active.length > 0)
    await departures.recordActive(
      db,
      active.map((worker) => ({ ...withAge(worker), session_id: parseId(worker.session_id) })),
    )
  return {}
}

const withAge = <T extends { age_ms: number }>(report: T): T => ({
  ...report,
  age_ms: Math.min(Math.max(Math.round(report.age_ms), 0), MAX_AGE_MS),
})
