import { isIPv6 } from 'node:net'
import type { Exchange } from '../http/exchange.ts'

/** The client's address, as far as `trustedProxies` hops may be believed; of an IPv6 one the network, since a client has all of it. */
export function addressOf({ req, headers }: Exchange, trustedProxies: number): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  const hops = [...forwarded.map((hop) => hop.trim()), req.socket.remoteAddress ?? '']
  const address = hops.at(-1 - trustedProxies) || (req.socket.remoteAddress ?? '')
  return networkOf(address)
}

export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const before = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const missing = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0')
  const groups = [...before, ...(tail === undefined ? [] : missing), ...after]
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')
}
