import { readFile } from 'node:fs/promises'
import type { Caller } from '@windlass/domain/caller'
import { requireAuthSecrets } from '@windlass/runtime/config/auth-secrets'
import { ConfigError } from '@windlass/runtime/config/config-error'
import { readOrCreateSecret } from '@windlass/runtime/config/home-file'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Colocation } from '@windlass/runtime/process/colocation'
import type { Runtime } from '@windlass/runtime/process/main'
import { expiresIn, Signer } from '@windlass/runtime/signed'
import { LRUCache } from 'lru-cache'
import { deriveKeys, type PairKeys, parseKeys } from './pair-keys.ts'

export interface Tls {
  ca: Buffer
  cert: Buffer
  key: Buffer
  /** The name that the certificate of every service carries. */
  serverName: string
}

/** How a service proves itself to the others of its cluster, and verifies them. */
export interface ServiceIdentity {
  readonly service: string
  /** Service token for calls to one other service; no third service accepts it. */
  serviceToken(to: string): string
  /** The service that a token proves, or undefined for a token that proves none. */
  authenticateService(token: string): string | undefined
  /** On-behalf-of token of a principal, for one rpc of one service. */
  signCaller(caller: Caller, to: string, rpc: string): string
  /** The principal on whose behalf a service calls this rpc; undefined unless the token proves it. */
  verifyCaller(token: string, from: string, rpc: string): Caller | undefined
  /** Mutual TLS between services; absent: connections are in clear. */
  tls?: Tls
  /** The services of the same process, if there are others: their rpcs are called without a connection. */
  colocation?: Colocation
}

/** A cluster keeps working while the clock of one machine is an hour off. */
const SKEW_S = 3_600
const RENEW_MS = 60_000
/** A token that is about to be renewed may still be in flight: hence two renewal periods. */
const LIFETIME_S = SKEW_S + (2 * RENEW_MS) / 1_000
const MAX_CACHED = 4_096

/**
 * Opens the identity of this process from the settings: keys of its own, or the secret from which
 * all keys are derived. Without either, a secret is created at the first start and kept in the home
 * directory: there is always one.
 */
export async function openServiceIdentity(
  settings: Settings,
  service: string,
  runtime: Pick<Runtime, 'log' | 'colocation'>,
): Promise<ServiceIdentity> {
  const { log, colocation } = runtime
  const identity = await readIdentity(settings, service, log)
  return { ...identity, ...(colocation && { colocation }) }
}

async function readIdentity(settings: Settings, service: string, log: Runtime['log']) {
  const { rpc, home } = settings
  requireAuthSecrets(settings, { log, secrets: ['[svc.rpc].secret'] })
  const tls = await tlsOf(rpc)
  if (rpc.keys.length > 0) {
    if (rpc.secret !== undefined)
      throw new ConfigError(
        '[svc.rpc] has both secret and keys: a service with keys must not know the secret',
      )
    return createServiceIdentity(parseKeys(service, rpc.keys), service, tls)
  }
  log.warn(
    'this service knows the secret of all services: give each keys of its own, see [svc.rpc] in deploy/svc.toml',
  )
  return createServiceIdentity(
    rpc.secret ?? (await readOrCreateSecret(home, 'rpc-secret')),
    service,
    tls,
  )
}

/** Creates the identity of a service that has these keys, or derives them from the secret. */
export function createServiceIdentity(
  keys: PairKeys | string,
  service: string,
  tls?: Tls,
): ServiceIdentity {
  const ring = typeof keys === 'string' ? deriveKeys(keys, service) : keys
  // The names are part of the signing keys: replicas of another release derive the same.
  const serviceTokens = new TokenKind<object>(ring, 'service credential')
  const callerTokens = new TokenKind<OnBehalfOfClaims>(ring, 'caller statement')
  const signedServiceTokens = new TokenCache()
  const signedCallerTokens = new TokenCache()
  return {
    service,
    serviceToken: (to) =>
      signedServiceTokens.text(to, () => `${service}:${serviceTokens.sign(to, {})}`),
    authenticateService(token) {
      const [from = '', text = ''] = token.split(':', 2)
      return serviceTokens.read(from, text) && from
    },
    signCaller(caller, to, rpc) {
      const { subject: sub, issuer: iss, key_prefix: key } = caller
      const name = JSON.stringify([to, rpc, sub, iss, key])
      return signedCallerTokens.text(name, () => callerTokens.sign(to, { rpc, sub, iss, key }))
    },
    verifyCaller(token, from, rpc) {
      const claims = token === '' ? undefined : callerTokens.read(from, token)
      if (claims?.rpc !== rpc) return undefined
      const { sub: subject, iss: issuer, key } = claims
      return { subject, issuer, ...(key !== undefined && { key_prefix: key }) }
    },
    ...(tls && { tls }),
  }
}

interface OnBehalfOfClaims {
  rpc: string
  sub: string
  iss: string
  /** Prefix of the API key of the request. */
  key?: string | undefined
}

/** Signs and verifies tokens of one kind, under the key of each pair of services. */
class TokenKind<Claims extends object> {
  readonly #to: (service: string) => Signer<Claims> | undefined
  readonly #from: (service: string) => Signer<Claims> | undefined
  readonly #verified = new LRUCache<string, Claims & { exp: number }>({ max: MAX_CACHED })

  constructor(ring: PairKeys, purpose: string) {
    const signers = (keyOf: PairKeys['to']) =>
      memoize((service) => {
        const key = keyOf(service)
        return key && new Signer<Claims>(key, purpose)
      })
    this.#to = signers(ring.to)
    this.#from = signers(ring.from)
  }

  sign(to: string, claims: Claims): string {
    const signer = this.#to(to)
    if (!signer) throw new Error(`no key for calls to ${to}: add the pair to CALLED_BY`)
    return signer.sign({ ...claims, exp: expiresIn(LIFETIME_S) })
  }

  /** Claims of a token that is valid now. A verified signature is not verified again; its end is. */
  read(from: string, text: string): Claims | undefined {
    const name = `${from}:${text}`
    const cached = this.#verified.get(name)
    if (cached && isCurrent(cached)) return cached
    this.#verified.delete(name)
    const claims = this.#from(from)?.verify(text)
    if (!claims || !isCurrent(claims)) return undefined
    this.#verified.set(name, claims)
    return claims
  }
}

/** False also for a token that ends later than any clock within SKEW_S could have signed it. */
function isCurrent({ exp }: { exp: number }): boolean {
  const left = exp - Date.now() / 1_000
  return left > 0 && left <= LIFETIME_S + SKEW_S
}

function memoize<T>(create: (name: string) => T | undefined): (name: string) => T | undefined {
  const values = new Map<string, T>()
  return (name) => {
    const value = values.get(name) ?? create(name)
    if (value) values.set(name, value)
    return value
  }
}

/** Reuses a signed token for RENEW_MS: a signature costs more than a lookup. */
class TokenCache {
  readonly #signed = new LRUCache<string, { text: string; at: number }>({ max: MAX_CACHED })

  text(name: string, sign: () => string): string {
    const now = performance.now()
    const cached = this.#signed.get(name)
    if (cached && now - cached.at < RENEW_MS) return cached.text
    const text = sign()
    this.#signed.set(name, { text, at: now })
    return text
  }
}

/** Requires all three files or none: a partial set would leave one direction in clear. */
async function tlsOf({ tls_ca, tls_cert, tls_key, tls_server_name }: Settings['rpc']) {
  const given = { tls_ca, tls_cert, tls_key }
  const missing = Object.entries(given).filter(([, path]) => path === undefined)
  if (missing.length === 3) return undefined
  if (!tls_ca || !tls_cert || !tls_key)
    throw new ConfigError(`[svc.rpc] needs ${missing.map(([name]) => name).join(' and ')} too`)
  const [ca, cert, key] = await Promise.all(
    [tls_ca, tls_cert, tls_key].map((path) => readFile(path)),
  )
  return { ca, cert, key, serverName: tls_server_name } as Tls
}
