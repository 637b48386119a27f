import { unavailable } from '@windlass/runtime/faults'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import { fetchJson } from './fetch-json.ts'

/**
 * After a failure no fetch is made for RETRY_AFTER_MS, and keys younger than COOLDOWN_MS are not
 * fetched again for an unknown key id: tokens cannot make the gateway flood the issuer.
 */
const RETRY_AFTER_MS = 5_000
const COOLDOWN_MS = 30_000

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.string() })

/**
 * Parses a URL whose answers may be trusted: https, or on this machine. Throws an error that says what is
 * wrong with it.
 */
export function parseTrustedUrl(address: string): URL {
  if (!URL.canParse(address)) throw new Error(`'${address}' is not a URL`)
  const url = new URL(address)
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw new Error(`${address} must be https`)
  return url
}

export interface KeySourceOptions {
  issuer: string
  /** Hosts that may serve the keys, in addition to the host of the issuer. */
  jwks_hosts: readonly string[]
  /** In seconds. */
  jwks_cache_ttl: number
}

export interface Hooks {
  /** Receives the cause of a failed fetch, which callers do not see. */
  onError?(error: unknown): void
  now?(): number
}

interface CachedKeys {
  find: ReturnType<typeof createLocalJWKSet>
  at: number
}

/**
 * Returns the signing keys of an issuer. They are fetched when first needed, when they are older than the
 * TTL, and when a token names an unknown key id. Throws `unavailable` while the fetch fails, but known keys
 * are found for another TTL: an issuer that is down signs no new tokens, and must not end all sessions. It
 * is asked first, so that a withdrawn key is found no longer than the TTL while it answers.
 */
export function createKeySource(
  source: KeySourceOptions,
  { onError = () => {}, now = () => performance.now() }: Hooks = {},
): JWTVerifyGetKey {
  const ttlMs = source.jwks_cache_ttl * 1_000
  let cached: CachedKeys | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<CachedKeys> | undefined

  const refresh = async (): Promise<CachedKeys> => {
    if (now() - failedAt < RETRY_AFTER_MS) throw unavailable(UNAVAILABLE)
    fetching ??= fetchKeys(source)
      .then((keys) => {
        cached = { find: createLocalJWKSet(keys), at: now() }
        return cached
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
  const currentKeys = async (): Promise<CachedKeys> => {
    const last = cached
    const staleAt = last ? last.at + ttlMs : Number.NEGATIVE_INFINITY
    if (last && now() < staleAt) return last
    if (!last || now() >= staleAt + ttlMs) return refresh()
    const refreshed = refresh().catch(() => last)
    // Only the first request after the TTL waits for an issuer that does not answer.
    return failedAt >= staleAt ? last : refreshed
  }
  return async (header, token) => {
    const known = await currentKeys()
    try {
      return await known.find(header, token)
    } catch (error) {
      const isOld = now() - known.at >= COOLDOWN_MS
      if (!(error instanceof errors.JWKSNoMatchingKey) || !isOld) throw error
    }
    return (await refresh()).find(header, token)
  }
}

const UNAVAILABLE = 'the keys of the OIDC issuer are not available; retry'

/** Address of the metadata of an issuer. */
export const discoveryUrl = (issuer: string): URL =>
  parseTrustedUrl(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)

async function fetchKeys({ issuer, jwks_hosts }: KeySourceOptions): Promise<JSONWebKeySet> {
  const home = discoveryUrl(issuer)
  const found = Discovery.parse(await fetchJson(home))
  if (found.issuer !== issuer)
    throw new Error(`${home} names the issuer ${found.issuer}; set the issuer to exactly that`)
  const keys = parseTrustedUrl(found.jwks_uri)
  if (home.protocol === 'https:' && keys.protocol !== 'https:')
    throw new Error(`${keys} must be https, as its issuer is`)
  if (keys.hostname !== home.hostname && !jwks_hosts.includes(keys.hostname))
    throw new Error(
      `${keys} is not at its issuer; [svc.security.auth.oidc].jwks_hosts may allow it`,
    )
  return (await fetchJson(keys)) as JSONWebKeySet
}
