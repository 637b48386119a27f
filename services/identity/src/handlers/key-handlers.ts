import { objects } from '@windlass/domain/audit'
import { restrictTo } from '@windlass/domain/permission-subset'
import type {
  ApiKeysService,
  FindKeyRequest,
  Key,
  KeyHolder,
  KeyLimits,
} from '@windlass/proto/windlass/identity/v1/principals'
import type { Handlers } from '@windlass/rpc/call'
import type { CacheInvalidator } from '@windlass/runtime/cache-generation'
import { Fault, invalid } from '@windlass/runtime/faults'
import type { Db } from '@windlass/runtime/postgres/db'
import { createKey, keyCreation } from '../engine/create-key.ts'
import type { KeyLifetimes } from '../engine/key-limits.ts'
import { auditName, getPrincipal, lockPrincipal } from '../engine/principal-records.ts'
import { originOf, recordChange } from '../engine/record-change.ts'
import { equalsHash, NO_HASH } from '../engine/tokens.ts'
import * as keys from '../store/keys.ts'
import * as principals from '../store/principals.ts'

const DAY_MS = 86_400_000

export const keyHandlers = (
  db: Db,
  caches: CacheInvalidator,
  lifetimes: KeyLifetimes,
): Handlers<typeof ApiKeysService> => ({
  create: ({ principal: ref, name, expires_in_days: days, limits }, call) =>
    db.tx(async (tx) => {
      const principal = await lockPrincipal(tx, ref)
      if (principal.type !== 'service_account')
        throw invalid('API keys can only be created for service accounts')
      const { id: principal_id } = principal
      const key = await createKey(tx, { principal_id, name, days, limits }, lifetimes)
      await recordChange(tx, originOf(call), keyCreation(principal, { name, key, limits }))
      return { key }
    }),

  async list(ref) {
    const { id } = await getPrincipal(db, ref)
    const stored = await keys.list(db, id)
    return { keys: stored.map((key) => toKey(key, lifetimes)) }
  },

  revoke: ({ principal: ref, name }, call) =>
    caches.commitAndInvalidate(async (tx) => {
      const { id, ...principal } = await lockPrincipal(tx, ref)
      if ((await keys.remove(tx, id, name)) === 0) throw invalid(`API key '${name}' not found`)
      const object = objects.key(auditName(principal), name)
      await recordChange(tx, originOf(call), { action: 'key.revoke', object })
      return {}
    }),

  find: (request) => findKeyHolder(db, request, lifetimes),
})

/**
 * The account of a key. An unknown prefix is compared with a dummy hash, so it takes as long as a
 * known one.
 */
async function findKeyHolder(
  db: Db,
  { prefix, token_hash, checks_networks }: FindKeyRequest,
  lifetimes: KeyLifetimes,
): Promise<KeyHolder> {
  const key = await keys.find(db, prefix)
  const isGenuine = equalsHash(token_hash, key?.token_hash ?? NO_HASH)
  const account = key && isGenuine ? await principals.readAccount(db, key.principal_id) : undefined
  const isChecked = checks_networks === true || !key?.networks
  if (!key || !account || !isChecked) throw new Fault('unauthenticated', 'Invalid or expired token')
  if (account.principal?.enabled) await keys.touch(db, prefix)
  const { permissions } = account
  const restricted = key.permissions ? restrictTo(permissions, key.permissions) : permissions
  return {
    account: { ...account, permissions: restricted },
    expires_at: expiryOf(key, lifetimes),
    limits: limitsOf(key),
  }
}

/** Time at which a key expires: its own, but no later than the maximum lifetime allows. */
function expiryOf(
  { expires_at, created_at }: Pick<keys.StoredKey, 'expires_at' | 'created_at'>,
  { max_lifetime_days }: KeyLifetimes,
): Date | undefined {
  if (max_lifetime_days === 0) return expires_at
  const latest = new Date(created_at.getTime() + max_lifetime_days * DAY_MS)
  return expires_at && expires_at < latest ? expires_at : latest
}

const limitsOf = ({ permissions, networks }: keys.KeyRestrictions): KeyLimits | undefined =>
  permissions || networks ? { permissions: permissions ?? [], networks: networks ?? [] } : undefined

const toKey = (key: keys.ListedKey, lifetimes: KeyLifetimes): Key => ({
  name: key.name,
  prefix: key.prefix,
  created_at: key.created_at,
  last_used_at: key.last_used_at,
  expires_at: expiryOf(key, lifetimes),
  limits: limitsOf(key),
})
