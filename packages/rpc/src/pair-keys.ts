import { hkdfSync } from 'node:crypto'

/** Which services call which; between others there is no key, so nobody can speak in their name. */
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

/** The services that take part in the calls of a cluster. */
export const RPC_SERVICES = [...new Set(PAIRS.flatMap(({ from, to }) => [from, to]))]

const pairsOf = (service: string) => PAIRS.filter(({ from, to }) => [from, to].includes(service))
const nameOf = ({ from, to }: Pair) => `${from}:${to}`

/** The keys that a service shares with those that it calls and those that call it, and with nobody else. */
export interface PairKeys {
  /** Of what this service shows to another; undefined where it has no business. */
  to(service: string): Buffer | undefined
  /** Of what another shows to this service. */
  from(service: string): Buffer | undefined
}

/** The ring of a service, as `[svc.rpc].keys` has it: `caller:called:key` in hex for each pair it is one of. */
export const keysOf = (secret: string, service: string): string[] =>
  pairsOf(service).map((pair) => `${nameOf(pair)}:${derived(secret, pair).toString('hex')}`)

/** A ring from its text. Throws when a key is missing, or one is there that this service must not have. */
export function parseKeys(service: string, keys: readonly string[]): PairKeys {
  const known = new Map<string, Buffer>()
  for (const text of keys) {
    const [, name = '', key = ''] = /^(\w+:\w+):([0-9a-f]{64})$/i.exec(text) ?? []
    if (name === '')
      throw new Error('[svc.rpc].keys: each is caller:called: and a key of 64 hex digits')
    known.set(name, Buffer.from(key, 'hex'))
  }
  const wanted = pairsOf(service).map(nameOf)
  const missing = wanted.filter((name) => !known.has(name))
  if (missing.length > 0)
    throw new Error(`[svc.rpc].keys: ${service} also needs ${missing.join(' and ')}`)
  const foreign = [...known.keys()].filter((name) => !wanted.includes(name))
  if (foreign.length > 0)
    throw new Error(`[svc.rpc].keys: ${foreign.join(' and ')} must not be known to ${service}`)
  return pairKeysOf(service, known)
}

/** The same from the secret that all keys come from: whoever has it can speak as every service. */
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
