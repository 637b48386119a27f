import { unavailable } from '@windlass/runtime/faults'
import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'

const FETCH_MS = 5_000
/** How long a failure is believed, and how long an unknown key id is: nobody can make us ask in a storm. */
const RETRY_MS = 5_000
const COOLDOWN_MS = 30_000

const Discovery = z.object({ jwks_uri: z.string() })

/** An address that may be trusted with what it answers: https, or this machine. Throws what is wrong with it. */
export function trustworthy(address: string): URL {
  const url = new URL(address)
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw new Error(`${address} must be https`)
  return url
}

/** The signing keys of an issuer, fetched when first needed. Throws `unavailable` while they cannot be had. */
export function keysOf(issuer: string, cacheMaxAge: number): JWTVerifyGetKey {
  let known: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined
  let discoveredAt = 0
  let failedAt = Number.NEGATIVE_INFINITY

  const fail = (cause: unknown) => {
    failedAt = performance.now()
    return unavailable('the keys of the OIDC issuer cannot be had', cause)
  }
  const current = () => {
    if (known && performance.now() - discoveredAt < cacheMaxAge) return known
    discoveredAt = performance.now()
    known = discover(issuer, cacheMaxAge)
    known.catch(() => {
      known = undefined
    })
    return known
  }
  return async (header, token) => {
    if (performance.now() - failedAt < RETRY_MS)
      throw unavailable('the keys of the OIDC issuer cannot be had')
    let keys: Awaited<ReturnType<typeof current>>
    try {
      keys = await current()
    } catch (error) {
      throw fail(error)
    }
    try {
      return await keys(header, token)
    } catch (error) {
      const isAnswer = error instanceof errors.JOSEError && !OUTAGES.has(error.code)
      throw isAnswer ? error : fail(error)
    }
  }
}

const OUTAGES = new Set(['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC'])

async function discover(issuer: string, cacheMaxAge: number) {
  const url = trustworthy(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(FETCH_MS) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const { jwks_uri } = Discovery.parse(await response.json())
  return createRemoteJWKSet(trustworthy(jwks_uri), {
    timeoutDuration: FETCH_MS,
    cooldownDuration: COOLDOWN_MS,
    cacheMaxAge,
  })
}
