import { objects } from '@windlass/domain/audit'
import type {
  ApiKeysService,
  FindKeyRequest,
  KeyHolder,
} from '@windlass/proto/windlass/identity/v1/principals'
import type { Handlers } from '@windlass/rpc/call'
import type { CacheInvalidator } from '@windlass/runtime/cache-generation'
import { Fault, invalid } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { createKey, keyCreation } from '../engine/create-key.ts'
import { auditName, getPrincipal, lockPrincipal } from '../engine/principal-records.ts'
import { originOf, recordChange } from '../engine/record-change.ts'
import { equalsHash, NO_HASH } from '../engine/tokens.ts'
import * as keys from '../store/keys.ts'
import * as principals from '../store/principals.ts'

export const keyHandlers = (db: Db, caches: CacheInvalidator): Handlers<typeof ApiKeysService> => ({
  create: ({ principal: ref, name, expires_in_days }, call) =>
    db.tx(async (tx) => {
      const principal = await lockPrincipal(tx, ref)
      if (principal.type !== 'service_account')
        throw invalid('API keys can only be created for service accounts')
      const key = await createKey(tx, { principal_id: principal.id, name, days: expires_in_days })
      await recordChange(tx, originOf(call), keyCreation(principal, name, key))
      return { key }
    }),

  async list(ref) {
    const { id } = await getPrincipal(db, ref)
    return { keys: await keys.list(db, id) }
  },

  revoke: ({ principal: ref, name }, call) =>
    caches.commitAndInvalidate(async (tx) => {
      const { id, ...principal } = await lockPrincipal(tx, ref)
      if ((await keys.remove(tx, id, name)) === 0) throw invalid(`API key '${name}' not found`)
      const object = objects.key(auditName(principal), name)
      await recordChange(tx, originOf(call), { action: 'key.revoke', object })
      return {}
    }),

  find: (request) => findKeyHolder(db, request),
})

/**
 * The account of a key. An unknown prefix is compared with a dummy hash, so it takes as long as a
 * known one.
 */
async function findKeyHolder(db: Db, { prefix, token_hash }: FindKeyRequest): Promise<KeyHolder> {
  const key = await keys.find(db, prefix)
  const isGenuine = equalsHash(token_hash, key?.token_hash ?? NO_HASH)
  const account = key && isGenuine ? await principals.readAccount(db, key.principal_id) : undefined
  if (!key || !account) throw new Fault('unauthenticated', 'Invalid or expired token')
  if (account.principal?.enabled) await keys.touch(db, prefix)
  return { account, expires_at: key.expires_at }
}
