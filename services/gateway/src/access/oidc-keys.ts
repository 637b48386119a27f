import { unavailable } from '@windlass/runtime/faults'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import { fetchJson } from './fetch-json.ts'

/** How long a failure is believed, and for how long keys that are known are not asked for again: nobody can make us ask in a storm. */
const RETRY_AFTER_MS = 5_000
const COOLDOWN_MS = 30_000

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.string() })

/** An address that may be trusted with what it answers: https, or this machine. Throws what is wrong with it. */
export function parseTrustedUrl(address: string): URL {
  if (!URL.canParse(address)) throw new Error(`'${address}' is no URL`)
  const url = new URL(address)
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw new Error(`${address} must be https`)
  return url
}

export interface KeySourceOptions {
  issuer: string
  /** Hosts that its keys may come from, beside its own. */
  jwks_hosts: readonly string[]
  /** In seconds. */
  jwks_cache_ttl: number
}

export interface Hooks {
  /** Hears why keys could not be had, which callers are not told. */
  onError?(error: unknown): void
  now?(): number
}

interface CachedKeys {
  find: ReturnType<typeof createLocalJWKSet>
  at: number
}

/**
 * The signing keys of an issuer, fetched when first needed, when they are old, and when a token
 * names one that is not among them. Throws `unavailable` while they cannot be had; a token whose key
 * is known is not hurt by a fetch that fails for the sake of another.
 */
export function createKeySource(
  source: KeySourceOptions,
  { onError = () => {}, now = () => performance.now() }: Hooks = {},
): JWTVerifyGetKey {
  let held: CachedKeys | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<CachedKeys> | undefined

  const refresh = (): Promise<CachedKeys> => {
    if (now() - failedAt < RETRY_AFTER_MS) throw unavailable(UNAVAILABLE)
    fetching ??= fetchKeys(source)
      .then((keys) => {
        held = { find: createLocalJWKSet(keys), at: now() }
        return held
      })
      .catch((cause) => {
        failedAt = now()
        onError(cause)
        throw unavailable(UNAVAILABLE, cause)
      })
      .finally(() => {
        fetching = undefined
      })
    return fetching
  }
  return async (header, token) => {
    const isFresh = held && now() - held.at < source.jwks_cache_ttl * 1_000
    const known = held && isFresh ? held : await refresh()
    try {
      return await known.find(header, token)
    } catch (error) {
      const isOld = now() - known.at >= COOLDOWN_MS
      if (!(error instanceof errors.JWKSNoMatchingKey) || !isOld) throw error
    }
    return (await refresh()).find(header, token)
  }
}

const UNAVAILABLE = 'the keys of the OIDC issuer cannot be had'

async function fetchKeys({ issuer, jwks_hosts }: KeySourceOptions): Promise<JSONWebKeySet> {
  const home = parseTrustedUrl(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const found = Discovery.parse(await fetchJson(home))
  if (found.issuer !== issuer) throw new Error(`${home} speaks for ${found.issuer}`)
  const keys = parseTrustedUrl(found.jwks_uri)
  if (home.protocol === 'https:' && keys.protocol !== 'https:')
    throw new Error(`${keys} must be https, as its issuer is`)
  if (keys.hostname !== home.hostname && !jwks_hosts.includes(keys.hostname))
    throw new Error(
      `${keys} is not at its issuer; [svc.security.auth.oidc].jwks_hosts may allow it`,
    )
  return (await fetchJson(keys)) as JSONWebKeySet
}
