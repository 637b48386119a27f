import { BlockList, isIP, isIPv4 } from 'node:net'

const BITS = { 4: 32, 6: 128 } as const

interface Network {
  address: string
  prefix: number
  family: 'ipv4' | 'ipv6'
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** An IPv4 address that an IPv6 socket reports as `::ffff:a.b.c.d` in its own form. */
const plainAddress = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** Parses an address or a network in CIDR notation; undefined for any other text. */
function parseNetwork(text: string): Network | undefined {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if ((version !== 4 && version !== 6) || rest.length > 0 || address.includes('%')) return undefined
  const bits = prefix === undefined ? BITS[version] : Number(prefix)
  if ((prefix !== undefined && !/^\d{1,3}$/.test(prefix)) || bits > BITS[version]) return undefined
  return { address, prefix: bits, family: familyOf(address) }
}

export const isNetwork = (text: string): boolean => parseNetwork(text) !== undefined

/**
 * Returns a test for addresses in any of these networks. A text that is not a network contains no address,
 * and an empty list accepts no address.
 */
export function createNetworkFilter(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks.map(parseNetwork))
    if (network) list.addSubnet(network.address, network.prefix, network.family)
  return (address) => {
    const plain = plainAddress(address)
    return isIP(plain) !== 0 && list.check(plain, familyOf(plain))
  }
}
