/*
 * Sign-in of the console at an OIDC issuer: the authorization code flow with PKCE (OpenID Connect Core
 * 1.0, 3.1; RFC 7636; RFC 9700).
 *
 *   browser                      gateway                                   issuer
 *      │ GET /console/oidc/start    │                                         │
 *      │───────────────────────────►│ state, nonce, verifier in a cookie      │
 *      │◄── 302 ────────────────────│                                         │
 *      │── challenge, state, nonce ──────────────────────────────────────────►│ the user signs in
 *      │◄── 302 with code, state ─────────────────────────────────────────────│
 *      │ GET /console/oidc/callback │                                         │
 *      │───────────────────────────►│ compares state; code, verifier ────────►│
 *      │                            │◄──────── ID token (nonce) ──────────────│
 *      │◄── cookie of the session ──│ signature, issuer, audience, nonce      │
 *
 * The cookie of the flow is signed, is valid for ten minutes and is accepted once, because a code is. It is
 * SameSite=Lax: the way back is a navigation from another site. Nothing of the flow is stored here, so any
 * replica can finish it.
 */
import { ConfigError } from '@windlass/runtime/config/config-error'
import type { Settings } from '@windlass/runtime/config/settings'
import { Fault, unavailable } from '@windlass/runtime/faults'
import { errors, type JWTPayload, jwtVerify } from 'jose'
import * as oauth from 'oauth4webapi'
import { isSubject } from './oidc-account.ts'
import { createKeySource, discoveryUrl, parseTrustedUrl } from './oidc-keys.ts'
import { hasClaims } from './token-claims.ts'

type ConsoleOidcSettings = Pick<Settings, 'console' | 'security'>

/** Secrets of one authorization code flow. */
export interface Flow {
  state: string
  nonce: string
  verifier: string
}

export type SignedInClaims = JWTPayload & { sub: string }

const FETCH_MS = 5_000
const DISCOVERY_TTL_MS = 3_600_000
/** Time after a failure during which no request is sent to the issuer. */
const RETRY_AFTER_MS = 5_000
const ALGORITHM = 'RS256'

/** Issuer at which users sign in to the console. */
export const consoleIssuer = ({ console, security }: ConsoleOidcSettings): string =>
  console.oidc.issuer || security.auth.oidc.issuer

export class ConsoleOidc {
  readonly #settings: ConsoleOidcSettings
  readonly #issuer: string
  readonly #client: oauth.Client
  readonly #keys: ReturnType<typeof createKeySource>
  readonly #onError: (error: unknown) => void
  #discovered: { server: oauth.AuthorizationServer; at: number } | undefined
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(settings: ConsoleOidcSettings, onError: (error: unknown) => void) {
    const { oidc } = settings.security.auth
    this.#settings = settings
    this.#issuer = consoleIssuer(settings)
    this.#client = {
      client_id: settings.console.oidc.client_id,
      [oauth.clockTolerance]: oidc.clock_skew,
      id_token_signed_response_alg: ALGORITHM,
    }
    this.#keys = createKeySource({ ...oidc, issuer: this.#issuer }, { onError })
    this.#onError = onError
  }

  /** Begins a flow; returns the address at which the user signs in. */
  async begin(redirectUri: string): Promise<{ location: string; flow: Flow }> {
    const { authorization_endpoint } = await this.#server()
    if (authorization_endpoint === undefined) throw unavailable(NO_ISSUER)
    const flow = {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
    }
    const location = parseTrustedUrl(authorization_endpoint)
    const parameters = {
      response_type: 'code',
      client_id: this.#client.client_id,
      redirect_uri: redirectUri,
      scope: this.#settings.console.oidc.scopes.join(' '),
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value)
    return { location: location.href, flow }
  }

  /**
   * Ends a flow with the parameters of the callback; returns the claims of the ID token. Throws
   * `unauthenticated` if the parameters, the code or the token do not belong to the flow.
   */
  async finish(
    parameters: URLSearchParams,
    { state, nonce, verifier }: Flow,
    redirectUri: string,
  ): Promise<SignedInClaims> {
    const server = await this.#server()
    try {
      const checked = oauth.validateAuthResponse(server, this.#client, parameters, state)
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        this.#client,
        this.#clientAuthentication(server),
        checked,
        redirectUri,
        verifier,
        this.#http(),
      )
      const tokens = await oauth.processAuthorizationCodeResponse(server, this.#client, response, {
        expectedNonce: nonce,
        requireIdToken: true,
      })
      return await this.#verify(tokens.id_token ?? '')
    } catch (error) {
      throw this.#faultOf(error)
    }
  }

  /** The library compares the claims; the signature is checked with the keys of the issuer. */
  async #verify(idToken: string): Promise<SignedInClaims> {
    const { payload } = await jwtVerify(idToken, this.#keys, {
      algorithms: [ALGORITHM],
      issuer: this.#issuer,
      audience: this.#client.client_id,
      clockTolerance: this.#settings.security.auth.oidc.clock_skew,
    })
    const { sub } = payload
    const isAllowed = hasClaims(payload, this.#settings.security.auth.oidc.required_claims)
    if (!isSubject(sub) || !isAllowed) throw refused()
    return { ...payload, sub }
  }

  #clientAuthentication({
    token_endpoint_auth_methods_supported: methods,
  }: oauth.AuthorizationServer): oauth.ClientAuth {
    const { client_secret } = this.#settings.console.oidc
    if (client_secret === undefined) return oauth.None()
    const isPost = methods?.includes('client_secret_basic') === false
    return isPost ? oauth.ClientSecretPost(client_secret) : oauth.ClientSecretBasic(client_secret)
  }

  async #server(): Promise<oauth.AuthorizationServer> {
    const now = performance.now()
    if (this.#discovered && now - this.#discovered.at < DISCOVERY_TTL_MS)
      return this.#discovered.server
    if (now - this.#failedAt < RETRY_AFTER_MS) throw unavailable(NO_ISSUER)
    try {
      const server = await this.#discover()
      this.#discovered = { server, at: now }
      return server
    } catch (error) {
      this.#failedAt = now
      this.#onError(error)
      throw unavailable(NO_ISSUER, error)
    }
  }

  async #discover(): Promise<oauth.AuthorizationServer> {
    discoveryUrl(this.#issuer)
    const issuer = new URL(this.#issuer)
    const response = await oauth.discoveryRequest(issuer, { ...this.#http(), algorithm: 'oidc' })
    const server = await oauth.processDiscoveryResponse(issuer, response)
    parseTrustedUrl(server.authorization_endpoint ?? '')
    parseTrustedUrl(server.token_endpoint ?? '')
    return server
  }

  /** Plain HTTP is accepted only for issuers on this machine; parseTrustedUrl has refused all others. */
  #http() {
    const isLocal = new URL(this.#issuer).protocol === 'http:'
    return { [oauth.allowInsecureRequests]: isLocal, signal: AbortSignal.timeout(FETCH_MS) }
  }

  /** Logs the cause of a failure; the caller only learns that it is not signed in. */
  #faultOf(error: unknown): Fault {
    if (error instanceof Fault) return error
    this.#onError(error)
    const isRefusal =
      error instanceof oauth.AuthorizationResponseError ||
      error instanceof oauth.ResponseBodyError ||
      error instanceof oauth.OperationProcessingError ||
      error instanceof oauth.UnsupportedOperationError ||
      error instanceof errors.JOSEError
    return isRefusal ? refused() : unavailable(NO_ISSUER, error)
  }
}

const NO_ISSUER = 'the OIDC issuer cannot be reached; retry'
const refused = () => new Fault('unauthenticated', 'The issuer did not confirm the sign-in')

/** Throws an error that says what is wrong with the settings of the sign-in at an issuer. */
export function requireConsoleOidc(settings: ConsoleOidcSettings): void {
  const { enabled, client_id, scopes } = settings.console.oidc
  if (!enabled) return
  const name = '[svc.console.oidc]'
  if (client_id === '') throw new ConfigError(`${name} needs a client_id`)
  if (!scopes.includes('openid')) throw new ConfigError(`${name}.scopes must contain "openid"`)
  const issuer = consoleIssuer(settings)
  if (issuer === '')
    throw new ConfigError(`${name} needs an issuer, here or in [svc.security.auth.oidc]`)
  try {
    parseTrustedUrl(issuer)
  } catch (error) {
    throw new ConfigError(`${name}.issuer: ${(error as Error).message}`)
  }
}
