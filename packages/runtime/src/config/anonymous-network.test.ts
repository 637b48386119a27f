import { expect, test } from 'vitest'
import { requireLoopbackIfAnonymous } from './anonymous-network.ts'
import { Settings } from './settings.ts'

const check = (host: string, given: object = {}) =>
  requireLoopbackIfAnonymous(Settings.parse(given), '[svc.server].host', host)

test.each([
  '0.0.0.0',
  '::',
  '',
  '10.0.0.1',
  '2001:db8::1',
  'windlass.example',
  '127.0.0.1.evil.example',
])('authentication off on %j: refused with what to do', (host) => {
  expect(() => check(host)).toThrow(
    /^\[svc\.server\]\.host is ".*" and authentication is off: .*allow_anonymous_network = true/,
  )
  check(host, { security: { auth: { enabled: true } } })
  check(host, { server: { allow_anonymous_network: 'true' } })
})

test.each(['127.0.0.1', '127.3.2.1', '::1', 'localhost'])(
  'authentication off on %j: accepted',
  (host) => check(host),
)
