import { addMarker } from '@windlass/runtime/cache-generation'
import type { Db } from '@windlass/runtime/postgres/db'
import { authMarkers } from '../store/pending-invalidations.ts'
import * as sessions from '../store/sessions.ts'

const KEEP_MS = 24 * 3_600_000
const BATCH = 1_000

/** Deletes one batch of sessions that ended more than a day ago; true if there may be more. */
export const deleteEndedSessions = async (db: Db): Promise<boolean> =>
  (await sessions.deleteEnded(db, KEEP_MS, BATCH)) === BATCH

/** Ends one batch of sessions that are beyond a limit; true if there may be more. */
export const endExpiredSessions = (db: Db, limits: sessions.SessionLimits): Promise<boolean> =>
  db.tx(async (tx) => {
    const ended = await sessions.endExpired(tx, limits, BATCH)
    if (ended > 0) await addMarker(tx, authMarkers)
    return ended >= BATCH
  })
