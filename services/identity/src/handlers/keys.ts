import { objects } from '@windlass/domain/audit'
import type {
  ApiKeysService,
  FindKeyRequest,
  KeyHolder,
  PrincipalRef,
} from '@windlass/proto/windlass/identity/v1/principals'
import type { Handlers } from '@windlass/rpc/call'
import { Fault, invalid } from '@windlass/runtime/faults'
import type { Db, Tx } from '@windlass/runtime/postgres/db'
import type { Redis } from '@windlass/runtime/redis/redis'
import { originOf, record } from '../audit.ts'
import { changingRights } from '../changing-rights.ts'
import { daysOf, nameIn } from '../domain/grants.ts'
import * as keys from '../store/keys.ts'
import * as principals from '../store/principals.ts'
import { isHash, NO_HASH, newApiKey } from '../tokens.ts'
import { found, locked, named } from './principals.ts'

export const keyHandlers = (db: Db, redis: Redis): Handlers<typeof ApiKeysService> => ({
  create: ({ principal: ref, name, expires_in_days }, call) =>
    db.tx(async (tx) => {
      const principal = await locked(tx, ref)
      if (principal.type !== 'service_account')
        throw invalid('API keys can only be created for service accounts')
      const key = await add(tx, { principal_id: principal.id, name, days: expires_in_days })
      await record(tx, originOf(call), created(principal, name, key))
      return { key }
    }),

  async list(ref) {
    const { id } = await found(db, ref)
    return { keys: await keys.list(db, id) }
  },

  revoke: ({ principal: ref, name }, call) =>
    changingRights(db, redis, async (tx) => {
      const { id, ...principal } = await locked(tx, ref)
      if ((await keys.remove(tx, id, name)) === 0) throw invalid(`API key '${name}' not found`)
      const object = objects.key(named(principal), name)
      await record(tx, originOf(call), { action: 'key.revoke', object })
      return {}
    }),

  find: (request) => find(db, request),
})

/** How the making of a key is recorded: by its prefix, never the key. */
export const created = (principal: PrincipalRef, name: string, key: string) => ({
  action: 'key.create' as const,
  object: objects.key(named(principal), name),
  detail: { prefix: key.split('.')[0] },
})

interface Wanted {
  principal_id: string
  name: string
  days: number
}

/** Makes a key in a transaction that is open, and answers it. */
export async function add(tx: Tx, { principal_id, name, days }: Wanted): Promise<string> {
  const { token, prefix, token_hash } = newApiKey()
  const stored = {
    prefix,
    token_hash,
    principal_id,
    name: nameIn('name', name),
    days: daysOf(days),
  }
  if ((await keys.insert(tx, stored)) === 0)
    throw invalid(`API key '${name}' already exists for this principal`)
  return token
}

/** Compares in constant time, with a hash that nothing has where there is no key. */
async function find(db: Db, { prefix, token_hash }: FindKeyRequest): Promise<KeyHolder> {
  const key = await keys.find(db, prefix)
  const genuine = isHash(token_hash, key?.token_hash ?? NO_HASH)
  const account = key && genuine ? await principals.account(db, key.principal_id) : undefined
  if (!key || !account) throw new Fault('unauthenticated', 'Invalid or expired token')
  if (account.principal?.enabled) await keys.touch(db, prefix)
  return { account, expires_at: key.expires_at }
}
