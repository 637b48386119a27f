import { createHash } from 'node:crypto'
import { createNetworkFilter } from '@windlass/domain/networks'
import { onlyPermissions } from '@windlass/domain/permissions'
import type {
  Account,
  ApiKeysService,
  KeyHolder,
} from '@windlass/proto/windlass/identity/v1/principals'
import type { RpcClient } from '@windlass/rpc/client'
import type { ReadGeneration } from '../cache/generation-reader.ts'
import { invalidToken, RefusedTokens } from '../cache/refused-tokens.ts'
import { UsageReportingCache } from '../cache/usage-reporting-cache.ts'
import type { Caller } from './caller.ts'

const API_KEY = /^(wk_[0-9a-f]{16})\.[A-Za-z0-9_-]{43}$/

export const isApiKey = (token: string): boolean => API_KEY.test(token)

/** The last use of a key is recorded to the minute. */
const REPORT_INTERVAL_MS = 60_000

/**
 * Returns the caller of a bearer token from a client address; throws `unauthenticated` for an unknown,
 * expired or disabled one, and for a key that is not accepted from this address.
 */
export type AuthenticateToken = (token: string, address: string) => Promise<Caller>

/**
 * Authenticates API keys. The account of a key is cached under the hash of the key for one
 * generation; expiry and the enabled flag are checked at each request. Unknown keys are
 * cached for a few seconds.
 */
export function createApiKeyAuthenticator(
  keys: Pick<RpcClient<typeof ApiKeysService>, 'find'>,
  readGeneration: ReadGeneration,
  now = Date.now,
): AuthenticateToken {
  const find = (key: string) => {
    const [prefix = '', hash = ''] = key.split(' ')
    return keys.find({ prefix, token_hash: Buffer.from(hash, 'hex'), checks_networks: true })
  }
  const holders = new UsageReportingCache(readGeneration, find, {
    name: 'api_keys',
    reportIntervalMs: REPORT_INTERVAL_MS,
    now,
  })
  const refusedTokens = new RefusedTokens(now)
  return async (token, address) => {
    const [, prefix] = API_KEY.exec(token) ?? []
    if (prefix === undefined) throw invalidToken()
    const key = `${prefix} ${hashOf(token)}`
    // Only for a key that is not cached: a cached one was checked, and hashing costs more than everything
    // else here.
    const holder = await holders.get(key, () => refusedTokens.check(token, () => find(key)))
    const { account, expires_at } = holder
    if (!isAllowedFrom(holder, address)) throw invalidToken()
    if (expires_at && Number(expires_at) <= now()) throw invalidToken()
    if (account?.principal?.type !== 'service_account') throw invalidToken()
    return { ...toCaller(account), key_prefix: prefix }
  }
}

/** Filters keyed by the cached object from which they were made. */
const filters = new WeakMap<KeyHolder, (address: string) => boolean>()

function isAllowedFrom(holder: KeyHolder, address: string): boolean {
  const networks = holder.limits?.networks ?? []
  if (networks.length === 0) return true
  const filter = filters.get(holder) ?? createNetworkFilter(networks)
  filters.set(holder, filter)
  return filter(address)
}

/** Converts an account to a caller; throws `unauthenticated` for a disabled one. */
export function toCaller({ principal, permissions }: Account): Caller {
  if (!principal?.enabled) throw invalidToken()
  const { subject, external_issuer: issuer, roles } = principal
  return { subject, issuer, roles, permissions: onlyPermissions(permissions) }
}

const hashOf = (token: string) => createHash('sha256').update(token, 'utf8').digest('hex')
