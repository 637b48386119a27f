import { objects } from '@windlass/domain/audit'
import type {
  CheckSessionRequest,
  IssueSessionRequest,
  IssueSessionResponse,
  Session,
} from '@windlass/proto/windlass/identity/v1/identity'
import { Fault, invalid } from '@windlass/runtime/faults'
import { parseId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import type { Redis } from '@windlass/runtime/redis/redis'
import { announce } from '../announce.ts'
import { type Origin, record } from '../audit.ts'
import * as pendingEpoch from '../store/pending-epoch.ts'
import * as sessions from '../store/sessions.ts'
import { matches, NO_HASH, newSessionToken, prefixOf } from '../tokens.ts'

/** How many tokens of one session stay valid: a worker that registers anew uses the last. */
const TOKENS_PER_SESSION = 16
const MAX_NAME_CHARS = 128
/** In how many steps the time that a session may be idle is told. */
const STEPS = 8

/** Issues a token. What it voids is void everywhere before it is answered. */
export async function issue(
  db: Db,
  redis: Redis,
  { worker_name, session_id, by }: IssueSessionRequest & { by: Origin },
): Promise<IssueSessionResponse> {
  const id = parseId(session_id)
  if (!id) throw invalid('session_id must be 32 hex digits')
  if (!worker_name || worker_name.length > MAX_NAME_CHARS) throw invalid('invalid worker name')

  const { token, ...stored } = newSessionToken()
  await db.tx(async (tx) => {
    await sessions.lockWorker(tx, worker_name)
    await sessions.insert(tx, { ...stored, worker_name, session_id: id })
    const ended = await sessions.endOthers(tx, worker_name, id, TOKENS_PER_SESSION)
    if (ended > 0) await pendingEpoch.add(tx)
    const detail = { session_id: id, prefix: stored.prefix, ended_sessions: ended }
    await record(tx, by, { action: 'worker.register', object: objects.worker(worker_name), detail })
  })
  await announce(db, redis)
  return { token }
}

/** Whose session a token is. That it is used is written down in steps, since thousands are looked at together. */
export async function check(
  db: Db,
  { token }: CheckSessionRequest,
  idleTimeoutS: number,
): Promise<Session> {
  const prefix = prefixOf(token)
  const session = prefix === undefined ? undefined : await sessions.findLive(db, prefix)
  const genuine = matches(token, session?.token_hash ?? NO_HASH)
  if (!session || !genuine) throw new Fault('unauthenticated', 'Invalid or expired token')
  if (session.idle_s > idleTimeoutS / STEPS) await sessions.touch(db, session.prefix)
  return { worker_name: session.worker_name, session_id: session.session_id }
}
