import type { Caller } from '@windlass/domain/caller'
import { requireAuthSecrets } from '@windlass/runtime/config/auth-secrets'
import { ConfigError } from '@windlass/runtime/config/config-error'
import { readOrCreateSecret } from '@windlass/runtime/config/home-file'
import type { Settings } from '@windlass/runtime/config/settings'
import type { Colocation } from '@windlass/runtime/process/colocation'
import type { Runtime } from '@windlass/runtime/process/main'
import { expiresIn, Signer } from '@windlass/runtime/signed'
import type { ServerTls } from '@windlass/runtime/tls/server-tls'
import { LRUCache } from 'lru-cache'
import { deriveKeys, type PairKeys, parseKeys } from './pair-keys.ts'
import { PeerVersions } from './peer-versions.ts'
import { readRpcTls } from './rpc-tls.ts'

export interface Tls {
  ca: Buffer
  cert: Buffer
  key: Buffer
  /** The name that the certificate of every service carries. */
  serverName: string
  /** Calls `listener` when the files have changed; absent: they never change. */
  onChange?(listener: () => void): () => void
}

/** Proves which service this process is, and verifies the other services of its cluster. */
export interface ServiceIdentity {
  readonly service: string
  /** Service token for calls to one other service; no third service accepts it. */
  serviceToken(to: string): string
  /** Returns the service that a token proves; undefined for an invalid token. */
  authenticateService(token: string): string | undefined
  /** On-behalf-of token of a principal, for one rpc of one service. */
  signCaller(caller: Caller, to: string, rpc: string): string
  /**
   * Returns the principal on whose behalf a service calls this rpc; undefined unless the token proves it.
   */
  verifyCaller(token: string, from: string, rpc: string): Caller | undefined
  /** Mutual TLS between services; absent: connections are unencrypted. */
  tls?: Tls
  /** Releases of the processes that it is connected to. */
  peers?: PeerVersions
  /** The services in the same process, if there are any: their rpcs are called without a connection. */
  colocation?: Colocation
}

/** The cluster must work while the clock of one machine is an hour off. */
const SKEW_S = 3_600
const RENEW_MS = 60_000
/** A token that is about to be renewed may still be in flight: hence two renewal periods. */
const LIFETIME_S = SKEW_S + (2 * RENEW_MS) / 1_000
const MAX_CACHED = 4_096

/**
 * Opens the identity of this process from the settings: keys of its own, or the secret from which all keys
 * are derived. If neither is configured, a secret is created at the first start and kept in the home
 * directory, so there always is one.
 */
export async function openServiceIdentity(
  settings: Settings,
  service: string,
  runtime: Pick<Runtime, 'log' | 'colocation' | 'readiness' | 'teardown'>,
): Promise<ServiceIdentity> {
  const { log, colocation, readiness, teardown } = runtime
  const identity = await readIdentity(settings, service, runtime)
  const peers = new PeerVersions(log)
  teardown.add('versions of peers', () => peers.close())
  readiness.add('versions', () => peers.check())
  return { ...identity, peers, ...(colocation && { colocation }) }
}

async function readIdentity(settings: Settings, service: string, runtime: TlsRuntime) {
  const { rpc, home } = settings
  const { log } = runtime
  requireAuthSecrets(settings, { log, secrets: ['[svc.rpc].secret'] })
  const tls = await openTls(rpc, runtime)
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

/** Creates the identity of a service from its keys, or derives the keys from the secret. */
export function createServiceIdentity(
  keys: PairKeys | string,
  service: string,
  tls?: Tls,
): ServiceIdentity {
  const ring = typeof keys === 'string' ? deriveKeys(keys, service) : keys
  // The names are part of the signing keys: replicas of other releases derive the same keys.
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

  /**
   * Returns the claims of a token that is valid now. A signature is verified once; the expiry is checked
   * every time.
   */
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

/** False also for a token whose expiry is later than any clock within SKEW_S could have set it. */
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

/** Reuses a signed token for RENEW_MS, because a signature costs more than a lookup. */
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

type TlsRuntime = Pick<Runtime, 'log' | 'readiness' | 'teardown'>

/** Changed files are used for new connections; the process is not ready while its certificate has expired. */
async function openTls(rpc: Settings['rpc'], { log, readiness, teardown }: TlsRuntime) {
  const files = await readRpcTls(rpc)
  if (!files) return undefined
  const { ca = Buffer.alloc(0), cert, key } = files.options
  const listeners = new Set<() => void>()
  const tls: Tls = {
    ca,
    cert,
    key,
    serverName: rpc.tls_server_name,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const setSecureContext = (next: Partial<Pick<Tls, 'ca' | 'cert' | 'key'>>) => {
    Object.assign(tls, next)
    for (const listener of listeners) listener()
  }
  teardown.add('rpc certificates', files.reloadOnChange({ setSecureContext } as TlsListener, log))
  readiness.add('rpc certificate', () => files.check())
  return tls
}

type TlsListener = Parameters<ServerTls['reloadOnChange']>[0]
