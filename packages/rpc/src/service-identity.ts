import { readFile } from 'node:fs/promises'
import type { Caller } from '@windlass/domain/caller'
import { readOrCreateSecret } from '@windlass/runtime/config/home-file'
import type { Settings } from '@windlass/runtime/config/settings'
import { expiresIn, Signer } from '@windlass/runtime/signed'
import type { Logger } from 'pino'
import { deriveKeys, type PairKeys, parseKeys } from './pair-keys.ts'

export interface Tls {
  ca: Buffer
  cert: Buffer
  key: Buffer
  /** The name that the certificate of every service carries. */
  serverName: string
}

/** What one service of a cluster knows the others by, and they it. */
export interface ServiceIdentity {
  readonly service: string
  /** Shown with every call to that service, and worth nothing to any other. */
  serviceToken(to: string): string
  /** Which service shows this; undefined for a stranger. */
  authenticateService(credential: string): string | undefined
  /** A signed statement of who is asking, for that service and one rpc of it. */
  signCaller(caller: Caller, to: string, rpc: string): string
  /** Who is asking for this rpc by the word of that service; undefined where it did not say so. */
  verifyCaller(statement: string, from: string, rpc: string): Caller | undefined
  /** Both ends of every connection show a certificate; absent: connections are in clear. */
  tls?: Tls
}

/** A cluster goes on while the clock of one machine is an hour off. */
const SKEW_S = 3_600
const RENEW_MS = 60_000
/** The last statement before the next is on its way for a while. */
const LIFETIME_S = SKEW_S + (2 * RENEW_MS) / 1_000
const MAX_CACHED = 4_096

/**
 * What this process needs to take part in the cluster of these settings: keys of its own, or the
 * secret that all come from. Without either a secret is made at the first start and kept in the home
 * directory; there is always one.
 */
export async function openServiceIdentity({ rpc, home }: Settings, service: string, log: Logger) {
  const tls = await tlsOf(rpc)
  if (rpc.keys.length > 0) {
    if (rpc.secret !== undefined)
      throw new Error('[svc.rpc] has both secret and keys: a service with keys must not know it')
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

/** A service that has these keys, or derives them from the secret. */
export function createServiceIdentity(
  keys: PairKeys | string,
  service: string,
  tls?: Tls,
): ServiceIdentity {
  const ring = typeof keys === 'string' ? deriveKeys(keys, service) : keys
  const credentials = new TokenKind<object>(ring, 'service credential')
  const statements = new TokenKind<OnBehalfOfClaims>(ring, 'caller statement')
  const shown = new TokenCache()
  const vouched = new TokenCache()
  return {
    service,
    serviceToken: (to) => shown.text(to, () => `${service}:${credentials.sign(to, {})}`),
    authenticateService(credential) {
      const [from = '', text = ''] = credential.split(':', 2)
      return credentials.read(from, text) && from
    },
    signCaller(caller, to, rpc) {
      const { subject: sub, issuer: iss, key_prefix: key } = caller
      const name = JSON.stringify([to, rpc, sub, iss, key])
      return vouched.text(name, () => statements.sign(to, { rpc, sub, iss, key }))
    },
    verifyCaller(statement, from, rpc) {
      const claims = statement === '' ? undefined : statements.read(from, statement)
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
  /** Prefix of the API key that was shown. */
  key?: string | undefined
}

/** What is signed for one purpose, under the key of each pair of services. */
class TokenKind<Claims extends object> {
  readonly #to: (service: string) => Signer<Claims> | undefined
  readonly #from: (service: string) => Signer<Claims> | undefined
  readonly #known = new Map<string, Claims & { exp: number }>()

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
    if (!signer) throw new Error(`this service has no business with ${to}`)
    return signer.sign({ ...claims, exp: expiresIn(LIFETIME_S) })
  }

  /** What was verified once need not be verified again, only looked at for its end. */
  read(from: string, text: string): Claims | undefined {
    const name = `${from}:${text}`
    const known = this.#known.get(name)
    if (known && isCurrent(known)) return known
    this.#known.delete(name)
    const claims = this.#from(from)?.verify(text)
    if (!claims || !isCurrent(claims)) return undefined
    if (this.#known.size >= MAX_CACHED) this.#known.clear()
    this.#known.set(name, claims)
    return claims
  }
}

/** Nor does it count when it comes from a clock that is further ahead than any may be. */
function isCurrent({ exp }: { exp: number }): boolean {
  const left = exp - Date.now() / 1_000
  return left > 0 && left <= LIFETIME_S + SKEW_S
}

function memoize<T>(make: (name: string) => T | undefined): (name: string) => T | undefined {
  const made = new Map<string, T>()
  return (name) => {
    const known = made.get(name)
    if (known) return known
    const fresh = make(name)
    if (fresh) made.set(name, fresh)
    return fresh
  }
}

/** The same text for a while: a signature costs more than remembering it. */
class TokenCache {
  readonly #made = new Map<string, { text: string; at: number }>()

  text(name: string, make: () => string): string {
    const now = performance.now()
    const known = this.#made.get(name)
    if (known && now - known.at < RENEW_MS) return known.text
    const text = make()
    if (this.#made.size >= MAX_CACHED) this.#made.clear()
    this.#made.set(name, { text, at: now })
    return text
  }
}

/** All three files or none: half a set would leave one direction in clear. */
async function tlsOf({ tls_ca, tls_cert, tls_key, tls_server_name }: Settings['rpc']) {
  const given = { tls_ca, tls_cert, tls_key }
  const missing = Object.entries(given).filter(([, path]) => path === undefined)
  if (missing.length === 3) return undefined
  if (!tls_ca || !tls_cert || !tls_key)
    throw new Error(`[svc.rpc] needs ${missing.map(([name]) => name).join(' and ')} too`)
  const [ca, cert, key] = await Promise.all(
    [tls_ca, tls_cert, tls_key].map((path) => readFile(path)),
  )
  return { ca, cert, key, serverName: tls_server_name } as Tls
}
