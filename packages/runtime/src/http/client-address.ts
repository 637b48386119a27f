import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6, type Socket } from 'node:net'

type Received = Pick<IncomingMessage, 'socket' | 'headers'>

/**
 * Returns the address of the client as the last of `trustedProxies` hops wrote it into X-Forwarded-For; no
 * other header counts.
 */
export function exactClientAddress({ socket, headers }: Received, trustedProxies: number): string {
  const direct = socket.remoteAddress ?? ''
  if (trustedProxies === 0) return direct
  const hops = [...String(headers['x-forwarded-for'] ?? '').split(','), direct]
  const address = withoutPort((hops.at(-1 - trustedProxies) ?? '').trim())
  return isIP(address) ? address : direct
}

/** The same, with an IPv6 address reduced to its /64 network, because a client can use all of it. */
export const clientAddress = (request: Received, trustedProxies: number): string =>
  trustedProxies === 0
    ? peerNetwork(request.socket)
    : networkOf(exactClientAddress(request, trustedProxies))

/** The network of each connection: a client sends many requests on one. */
const peerNetworks = new WeakMap<Pick<Socket, 'remoteAddress'>, string>()

function peerNetwork(socket: Pick<Socket, 'remoteAddress'>): string {
  const known = peerNetworks.get(socket)
  if (known !== undefined) return known
  const network = networkOf(socket.remoteAddress ?? '')
  peerNetworks.set(socket, network)
  return network
}

/** Removes the port, which some proxies append and which differs for each connection. */
const withoutPort = (hop: string) =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop

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
