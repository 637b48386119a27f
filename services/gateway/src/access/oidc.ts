import { ConfigError } from '@windlass/runtime/config/config-error'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault } from '@windlass/runtime/faults'
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose'
import { type AuthenticateToken, toCaller } from './api-key.ts'
import { accountOf, isSubject, type OidcAccountDeps } from './oidc-account.ts'
import { createKeySource, type Hooks, parseTrustedUrl } from './oidc-keys.ts'
import { isAcceptedToken } from './token-claims.ts'

type Oidc = Settings['security']['auth']['oidc']
const ALGORITHM = 'RS256'
/** A token with a longer validity was issued by mistake. */
const MAX_LIFETIME_S = 10 * 366 * 86_400

/**
 * Authenticates tokens of the issuer as the principal of their subject. Signature and times are checked at
 * each request; permissions come only from the registry of principals, never from the token.
 */
export function createOidcAuthenticator(
  oidc: Oidc,
  deps: OidcAccountDeps,
  onError?: Hooks['onError'],
): AuthenticateToken {
  const { issuer, audience, default_user_roles } = oidc
  const keys = createKeySource(oidc, { onError })

  const claimsOf = async (token: string) => {
    try {
      // Checked before any key is fetched, so that a token of another issuer causes no request to ours.
      if (decodeProtectedHeader(token).alg !== ALGORITHM || decodeJwt(token).iss !== issuer)
        throw refused()
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        algorithms: [ALGORITHM],
        issuer,
        audience,
        clockTolerance: oidc.clock_skew,
        requiredClaims: ['sub', 'iss', 'aud', 'exp'],
        maxTokenAge: oidc.max_token_age,
      })
      const isShortLived = Number(payload.exp) <= Date.now() / 1_000 + MAX_LIFETIME_S
      if (!isShortLived || !isAcceptedToken(protectedHeader, payload, oidc)) throw refused()
      return payload
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) throw refused()
      throw error
    }
  }

  return async (token) => {
    const claims = await claimsOf(token)
    const { sub } = claims
    if (!isSubject(sub)) throw refused()
    const account = await accountOf(deps, { ...claims, sub }, { issuer, roles: default_user_roles })
    return toCaller(account)
  }
}

/** Throws an error that says what is wrong with the settings of the issuer. */
export function requireTrustedIssuer({ enabled, issuer, audience }: Oidc): void {
  if (!enabled) return
  if (issuer === '' || audience === '')
    throw new ConfigError('[svc.security.auth.oidc] needs an issuer and an audience')
  try {
    parseTrustedUrl(issuer)
  } catch (error) {
    throw new ConfigError(`[svc.security.auth.oidc].issuer: ${(error as Error).message}`)
  }
}

const refused = () => new Fault('unauthenticated', 'OIDC token validation failed')
