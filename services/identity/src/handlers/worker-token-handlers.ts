import { objects } from '@windlass/domain/audit'
import type {
  CheckBootstrapResponse,
  CreateWorkerTokenRequest,
  WorkerTokensService,
} from '@windlass/proto/windlass/identity/v1/identity'
import type { Handlers } from '@windlass/rpc/call'
import type { CacheInvalidator } from '@windlass/runtime/cache-generation'
import { conflict, notFound } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { type Origin, originOf, recordChange } from '../engine/record-change.ts'
import { hasHash, NO_HASH, newWorkerToken, workerTokenPrefixOf } from '../engine/tokens.ts'
import * as sessions from '../store/sessions.ts'
import * as tokens from '../store/worker-tokens.ts'

export const workerTokenHandlers = (
  db: Db,
  caches: CacheInvalidator,
): Handlers<typeof WorkerTokensService> => ({
  create: (request, call) => createToken(db, request, originOf(call)),

  list: async () => ({ tokens: await tokens.list(db) }),

  revoke: ({ name }, call) =>
    caches.commitAndInvalidate(async (tx) => {
      if ((await tokens.remove(tx, name)) === 0) throw notFound('Worker token', name)
      const worker_names = await sessions.endOfToken(tx, name)
      const detail = { ended_workers: worker_names.length }
      const object = objects.workerToken(name)
      await recordChange(tx, originOf(call), { action: 'worker_token.revoke', object, detail })
      return { worker_names }
    }),

  endSession: ({ worker_name }, call) =>
    caches.commitAndInvalidate(async (tx) => {
      await sessions.lockWorker(tx, worker_name)
      const ended = await sessions.endAll(tx, worker_name)
      const object = objects.worker(worker_name)
      const detail = { ended_sessions: ended }
      await recordChange(tx, originOf(call), { action: 'worker.end_session', object, detail })
      return { ended }
    }),
})

const createToken = (db: Db, request: CreateWorkerTokenRequest, by: Origin) =>
  db.tx(async (tx) => {
    const { name, expires_in_days: days, max_uses, restrictions_json } = request
    const { token, ...stored } = newWorkerToken()
    const created = { ...stored, name, days, max_uses, restrictions_json }
    if ((await tokens.insert(tx, created)) === 0)
      throw conflict(`Worker token '${name}' already exists`)
    const detail = { prefix: stored.prefix, restrictions: JSON.parse(restrictions_json) }
    await recordChange(tx, by, {
      action: 'worker_token.create',
      object: objects.workerToken(name),
      detail,
    })
    return { token }
  })

/** Checks a worker token; an unknown prefix is compared with a dummy hash, so it takes as long. */
export async function checkWorkerToken(db: Db, token: string): Promise<CheckBootstrapResponse> {
  const prefix = workerTokenPrefixOf(token)
  const found = prefix === undefined ? undefined : await tokens.findUsable(db, prefix)
  const valid = hasHash(token, found?.token_hash ?? NO_HASH)
  if (!found || !valid) return { configured: true, valid: false }
  const { name: token_name, restrictions_json } = found
  return { configured: true, valid: true, grant: { token_name, restrictions_json } }
}
