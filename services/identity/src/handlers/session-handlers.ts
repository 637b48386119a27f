import { objects } from '@windlass/domain/audit'
import type {
  CheckSessionRequest,
  IssueSessionRequest,
  IssueSessionResponse,
  Session,
} from '@windlass/proto/windlass/identity/v1/identity'
import { addMarker, type CacheInvalidator } from '@windlass/runtime/cache-generation'
import { Fault, invalid } from '@windlass/runtime/faults'
import { parseId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import { type Origin, recordChange } from '../engine/record-change.ts'
import { hasHash, NO_HASH, newSessionToken, sessionPrefixOf } from '../engine/tokens.ts'
import { authMarkers } from '../store/pending-invalidations.ts'
import * as sessions from '../store/sessions.ts'
import * as tokens from '../store/worker-tokens.ts'

/** Number of tokens of one session that stay valid; each registration of the session adds one. */
const TOKENS_PER_SESSION = 16
const MAX_NAME_CHARS = 128
/** `last_used_at` is written at most this often per idle timeout. */
const TOUCHES_PER_TIMEOUT = 8

export interface SessionDeps {
  db: Db
  caches: CacheInvalidator
  sessionLimits: sessions.SessionLimits
}

/** Issues a token. The tokens that it ends are invalid at every gateway before the call returns. */
export async function issueSession(
  { db, caches }: SessionDeps,
  { worker_name, session_id, worker_token, renewal }: IssueSessionRequest,
  by: Origin,
): Promise<IssueSessionResponse> {
  const id = parseId(session_id)
  if (!id) throw invalid('session_id must be 32 hex digits')
  if (!worker_name || worker_name.length > MAX_NAME_CHARS) throw invalid('invalid worker name')

  const { token, ...stored } = newSessionToken()
  await db.tx(async (tx) => {
    await sessions.lockWorker(tx, worker_name)
    if (worker_token !== undefined && !renewal && (await tokens.use(tx, worker_token)) === 0)
      throw new Fault('forbidden', 'The worker token was revoked, has expired or is used up.')
    const registered_at = renewal ? await sessions.findRegisteredAt(tx, worker_name) : undefined
    // The session ended while a gateway still had it in its cache.
    if (renewal && !registered_at) throw new Fault('forbidden', 'The session has ended.')
    const session = { ...stored, worker_name, session_id: id, worker_token, registered_at }
    await sessions.insert(tx, session)
    const ended = await sessions.endOthers(tx, worker_name, id, TOKENS_PER_SESSION)
    if (ended > 0) await addMarker(tx, authMarkers)
    const object = objects.worker(worker_name)
    const detail = { session_id: id, prefix: stored.prefix, ended_sessions: ended, worker_token }
    await recordChange(tx, by, { action: 'worker.register', object, detail })
  })
  await caches.invalidatePending()
  return { token }
}

/**
 * The session of a token. `last_used_at` is written only after an eighth of the idle timeout, because
 * thousands of sessions are checked at the same time.
 */
export async function checkSession(
  { db, sessionLimits: { idleS, maxAgeS } }: SessionDeps,
  { token }: CheckSessionRequest,
): Promise<Session> {
  const prefix = sessionPrefixOf(token)
  const session = prefix === undefined ? undefined : await sessions.findLive(db, prefix)
  const isGenuine = hasHash(token, session?.token_hash ?? NO_HASH)
  const isTooOld = maxAgeS > 0 && session !== undefined && session.age_s >= maxAgeS
  if (!session || !isGenuine || isTooOld)
    throw new Fault('unauthenticated', 'Invalid or expired token')
  if (session.idle_s > idleS / TOUCHES_PER_TIMEOUT) await sessions.touch(db, session.prefix)
  const { worker_name, session_id, worker_token: token_name, restrictions_json } = session
  if (token_name === undefined) return { worker_name, session_id }
  // The row of a revoked token is gone, but its sessions had already ended.
  if (restrictions_json === undefined)
    throw new Fault('unauthenticated', 'Invalid or expired token')
  return { worker_name, session_id, grant: { token_name, restrictions_json } }
}
