import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { clientAddress, networkOf } from './client-address.ts'

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:DB8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2'],
  ['::1', '0:0:0:0'],
  ['nonsense', 'nonsense'],
])('%s: rate-limited as %s', (address, network) => expect(networkOf(address)).toBe(network))

test.each([
  [0, '1.1.1.1, 2.2.2.2', '9.9.9.9'],
  [1, '1.1.1.1, 2.2.2.2', '2.2.2.2'],
  [2, '1.1.1.1, 2.2.2.2', '1.1.1.1'],
  [1, undefined, '9.9.9.9'],
  [5, '1.1.1.1', '9.9.9.9'],
  [1, '2.2.2.2:50123', '2.2.2.2'],
  [1, '[2001:db8:1:2::3]:50123', '2001:db8:1:2'],
  [1, '[2001:db8:1:2::3]', '2001:db8:1:2'],
  [1, 'unknown', '9.9.9.9'],
  [1, ',', '9.9.9.9'],
  [1, 'x'.repeat(10_000), '9.9.9.9'],
])('%i trusted proxies, X-Forwarded-For %j: the client is %s', (trusted, forwarded, address) => {
  const x = {
    headers: {
      'x-forwarded-for': forwarded,
      forwarded: 'for=7.7.7.7',
      'x-real-ip': '8.8.8.8',
    },
    socket: { remoteAddress: '9.9.9.9' },
  }
  expect(clientAddress(x as unknown as IncomingMessage, trusted)).toBe(address)
})
