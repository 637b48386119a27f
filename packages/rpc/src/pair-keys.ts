import { hkdfSync } from 'node:crypto'
import { ConfigError } from '@windlass/runtime/config/config-error'

/** Pairs of calling and called services. No other pair has a key, so no call between them can be signed. */
const CALLED_BY = {
  gateway: ['identity', 'catalog', 'executions', 'dispatcher', 'scheduler'],
  scheduler: ['identity', 'catalog', 'executions'],
  dispatcher: ['catalog', 'executions'],
} as const

export type CallingService = keyof typeof CALLED_BY

const KEY_BYTES = 32

interface Pair {
  from: string
  to: string
}

const PAIRS = Object.entries(CALLED_BY).flatMap(([from, all]): Pair[] =>
  all.map((to) => ({ from, to })),
)

/** Services that call or are called. */
export const RPC_SERVICES = [...new Set(PAIRS.flatMap(({ from, to }) => [from, to]))]

const pairsOf = (service: string) => PAIRS.filter(({ from, to }) => [from, to].includes(service))
const nameOf = ({ from, to }: Pair) => `${from}:${to}`

/** The keys of one service: one for each service that it calls and one for each that calls it. */
export interface PairKeys {
  /** Signs tokens for calls to `service`; undefined if this service does not call it. */
  to(service: string): Buffer | undefined
  /** Verifies tokens of calls from `service`; undefined if it does not call this service. */
  from(service: string): Buffer | undefined
}

/** Keys of a service as `[svc.rpc].keys` takes them: `caller:called:key`, the key in hex. */
export const keysOf = (secret: string, service: string): string[] =>
  pairsOf(service).map((pair) => `${nameOf(pair)}:${derived(secret, pair).toString('hex')}`)

/** Parses `[svc.rpc].keys`. Throws when a key is missing, malformed or not one of this service. */
export function parseKeys(service: string, keys: readonly string[]): PairKeys {
  const known = new Map<string, Buffer>()
  for (const text of keys) {
    const [, name = '', key = ''] = /^(\w+:\w+):([0-9a-f]{64})$/i.exec(text) ?? []
    if (name === '')
      throw new ConfigError('[svc.rpc].keys: each is caller:called: and a key of 64 hex digits')
    known.set(name, Buffer.from(key, 'hex'))
  }
  const wanted = pairsOf(service).map(nameOf)
  const missing = wanted.filter((name) => !known.has(name))
  if (missing.length > 0)
    throw new ConfigError(`[svc.rpc].keys: ${service} also needs ${missing.join(' and ')}`)
  const foreign = [...known.keys()].filter((name) => !wanted.includes(name))
  if (foreign.length > 0)
    throw new ConfigError(
      `[svc.rpc].keys: ${foreign.join(' and ')} must not be known to ${service}`,
    )
  return pairKeysOf(service, known)
}

/** Derives the keys of a service from the shared secret. A holder of the secret can act as any service. */
export const deriveKeys = (secret: string, service: string): PairKeys =>
  pairKeysOf(
    service,
    new Map(pairsOf(service).map((pair) => [nameOf(pair), derived(secret, pair)])),
  )

const pairKeysOf = (service: string, keys: ReadonlyMap<string, Buffer>): PairKeys => ({
  to: (other) => keys.get(nameOf({ from: service, to: other })),
  from: (other) => keys.get(nameOf({ from: other, to: service })),
})

const derived = (secret: string, pair: Pair): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `windlass rpc ${nameOf(pair)}`, KEY_BYTES))
