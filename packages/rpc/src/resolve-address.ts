import { promises as dns } from 'node:dns'
import { isIP, isIPv4 } from 'node:net'

const HOST_AND_PORT = /^(.*):(\d+)$/

/** True for `HOST:PORT` with a name, which may resolve to several replicas. */
export function isName(address: string): boolean {
  const [, host = address] = HOST_AND_PORT.exec(address) ?? []
  return isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0
}

/** True for an IPv4 address with a port. */
export const isIPv4Address = (address: string): boolean => isIPv4(address.replace(/:\d+$/, ''))

/**
 * Resolves `NAME:PORT` to the address of each replica behind the name, in an order that does not depend on
 * the resolver. A host that has addresses of both families is listed with one of them.
 */
export async function resolveAddress(address: string): Promise<string[]> {
  const [, host = address, port = ''] = HOST_AND_PORT.exec(address) ?? []
  const found = await dns.lookup(host, { all: true })
  const v4 = found.filter(({ family }) => family === 4)
  const hosts =
    v4.length > 0 ? v4.map((one) => one.address) : found.map((one) => `[${one.address}]`)
  return [...new Set(hosts)].sort().map((each) => `${each}:${port}`)
}
