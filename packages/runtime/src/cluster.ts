import { readFile } from 'node:fs/promises'
import { keptSecret } from './home-file.ts'
import type { Settings } from './settings.ts'
import { expiresIn, Signer } from './signed.ts'

/** On whose behalf a call is made: a principal, as the gateway or the scheduler knows it. */
export interface Caller {
  subject: string
  /** Where the subject is known by that name. */
  issuer: string
}

export interface Tls {
  ca: Buffer
  cert: Buffer
  key: Buffer
  /** The name that the certificate of every service carries. */
  serverName: string
}

/** What the processes of one cluster know one another by. */
export interface Cluster {
  /** Shown with every call; good for two hours. */
  credential(): string
  /** Whether what was shown is such a credential. */
  admits(credential: string): boolean
  /** A signed statement of who is asking, for the services that act on it; empty for nobody. */
  vouch(caller: Caller | undefined): string
  /** Who is asking according to a statement; undefined for nobody, or for a statement that is not ours. */
  believe(statement: string): Caller | undefined
  /** Both ends of every connection show a certificate; absent: connections are in clear. */
  tls?: Tls
}

/** A cluster goes on while the clock of one machine is an hour off. */
const LIFETIME_S = 2 * 3_600
const RENEW_MS = 60_000
const MAX_REMEMBERED = 4_096

/**
 * What this process needs to take part in the cluster of these settings. Without a configured
 * secret one is made at the first start and kept in the home directory; there is always one.
 */
export async function openCluster({ rpc, home }: Settings, service: string): Promise<Cluster> {
  const secret = rpc.secret ?? (await keptSecret(home, 'rpc-secret'))
  return clusterOf(secret, service, await tlsOf(rpc))
}

export function clusterOf(secret: string, service: string, tls?: Tls): Cluster {
  const services = new Signer<{ service: string }>(secret, 'service credential')
  const callers = new Signer<{ sub: string; iss: string }>(secret, 'caller statement')
  const admitted = new Remembered((text) => services.verify(text))
  const believed = new Remembered((text) => callers.verify(text))
  const own = renewed(() => services.sign({ service, exp: expiresIn(LIFETIME_S) }))
  const vouched = new Map<string, () => string>()

  return {
    credential: own,
    admits: (credential) => admitted.find(credential) !== undefined,
    vouch(caller) {
      if (!caller) return ''
      const { subject: sub, issuer: iss } = caller
      const name = JSON.stringify([sub, iss])
      const known = vouched.get(name)
      if (known) return known()
      const made = renewed(() => callers.sign({ sub, iss, exp: expiresIn(LIFETIME_S) }))
      if (vouched.size >= MAX_REMEMBERED) vouched.clear()
      vouched.set(name, made)
      return made()
    },
    believe(statement) {
      const claims = statement === '' ? undefined : believed.find(statement)
      return claims && { subject: claims.sub, issuer: claims.iss }
    },
    tls,
  }
}

/** The same text for a while: a signature costs more than remembering it. */
function renewed(make: () => string): () => string {
  let text = ''
  let madeAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - madeAt > RENEW_MS) {
      text = make()
      madeAt = now
    }
    return text
  }
}

/** What was verified once need not be verified again, only looked at for its end. */
class Remembered<Claims extends { exp: number }> {
  readonly #verify: (text: string) => Claims | undefined
  readonly #known = new Map<string, Claims>()

  constructor(verify: (text: string) => Claims | undefined) {
    this.#verify = verify
  }

  find(text: string): Claims | undefined {
    const known = this.#known.get(text)
    if (known) {
      if (known.exp * 1_000 > Date.now()) return known
      this.#known.delete(text)
      return undefined
    }
    const claims = this.#verify(text)
    if (!claims) return undefined
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear()
    this.#known.set(text, claims)
    return claims
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
