import { expect, test } from 'vitest'
import { createNetworkFilter, isNetwork } from './networks.ts'

test.each(['10.0.0.0/8', '10.1.2.3', '0.0.0.0/0', '2001:db8::/32', '::1', '::/0'])(
  'network: %s',
  (text) => expect(isNetwork(text)).toBe(true),
)

test.each([
  '',
  '10.0.0.0/33',
  '10.0.0/8',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '::1/129',
  'a',
  '10.0.0.0/-1',
  'fe80::1%eth0',
])('no network: %s', (text) => expect(isNetwork(text)).toBe(false))

test('addresses: accepted in one of the networks only', () => {
  const isAllowed = createNetworkFilter(['10.1.0.0/16', '192.0.2.7', '2001:db8:1::/48'])
  for (const address of [
    '10.1.0.0',
    '10.1.255.255',
    '192.0.2.7',
    '2001:db8:1::5',
    '::ffff:10.1.2.3',
  ])
    expect(isAllowed(address), address).toBe(true)
  for (const address of ['10.2.0.0', '192.0.2.8', '2001:db8:2::5', '', 'x', '::1'])
    expect(isAllowed(address), address).toBe(false)
  expect(createNetworkFilter([])('10.0.0.1')).toBe(false)
})
