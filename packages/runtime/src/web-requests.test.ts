import { expect, test } from 'vitest'
import { createWebRequestGuard } from './web-requests.ts'

const guard = (host: string, allowedHosts: string[] = [], publicUrl?: string) =>
  createWebRequestGuard({ host, allowedHosts, publicUrl, allowedHostsSetting: '[svc.x].hosts' })

const LOOPBACK = guard('127.0.0.1')
const ADDRESS = guard('10.0.0.5')
const WILDCARD = guard('0.0.0.0', ['gateway', 'windlass.internal:8000'])
const WILDCARD_V6 = guard('::')
const PUBLISHED = guard('127.0.0.1', ['other.example'], 'https://Windlass.example')

type Headers = Record<string, string>
const at = (host: string, origin?: string, site?: string): Headers => ({
  host,
  ...(origin === undefined ? {} : { origin }),
  ...(site === undefined ? {} : { 'sec-fetch-site': site }),
})

test.each([
  ['no headers of a browser', LOOPBACK, at('127.0.0.1:8000')],
  ['HTTP/1.0 without Host', LOOPBACK, {}],
  ['localhost', LOOPBACK, at('LocalHost:8000')],
  ['another loopback address', LOOPBACK, at('127.3.2.1')],
  ['IPv6 loopback', LOOPBACK, at('[::1]:8000')],
  ['the bound address', ADDRESS, at('10.0.0.5:8000')],
  ['loopback through a port forward', ADDRESS, at('127.0.0.1:9000')],
  ['the bound IPv6 address', guard('fd00::5'), at('[fd00::5]:8000')],
  ['a bound name', guard('box.lan'), at('box.lan:8000')],
  ['wildcard address: an IPv4 literal', WILDCARD, at('192.0.2.7:8000')],
  ['wildcard address: an IPv6 literal', WILDCARD_V6, at('[2001:db8::7]:8000')],
  ['an allowed name without a port: any port', WILDCARD, at('gateway:1234')],
  ['an allowed name with a port', WILDCARD, at('windlass.internal:8000')],
  ['the host of the public URL', PUBLISHED, at('windlass.example')],
  ['same origin', LOOPBACK, at('127.0.0.1:8000', 'http://127.0.0.1:8000', 'same-origin')],
  ['same origin at the default port', LOOPBACK, at('localhost', 'http://localhost')],
  ['same origin with the default port given', LOOPBACK, at('localhost:80', 'http://localhost')],
  ['same origin behind TLS', PUBLISHED, at('other.example', 'https://other.example')],
  ['the public origin', PUBLISHED, at('windlass.example', 'https://windlass.example')],
  [
    'the public origin, Host set by a proxy',
    PUBLISHED,
    at('127.0.0.1', 'https://windlass.example'),
  ],
  ['the address bar', LOOPBACK, at('127.0.0.1:8000', undefined, 'none')],
])('%s: allowed', (_, rule, headers) => {
  expect(rule(headers)).toBeUndefined()
})

test.each([
  ['a rebound name', LOOPBACK, at('evil.example')],
  ['a name that begins like loopback', LOOPBACK, at('127.0.0.1.evil.example:8000')],
  ['a name that begins with localhost', LOOPBACK, at('localhost.evil.example')],
  ['a subdomain of localhost', LOOPBACK, at('evil.localhost')],
  ['a trailing dot', LOOPBACK, at('localhost.')],
  ['user information', LOOPBACK, at('localhost@evil.example')],
  ['a list', LOOPBACK, at('localhost, evil.example')],
  ['an empty Host', LOOPBACK, at('')],
  ['no IPv6 brackets', LOOPBACK, at('::1')],
  ['loopback as a number', LOOPBACK, at('2130706433')],
  ['an address that is not bound', LOOPBACK, at('10.0.0.5:8000')],
  ['every address, without a wildcard', LOOPBACK, at('0.0.0.0:8000')],
  ['wildcard address: a name', WILDCARD, at('evil.example')],
  ['wildcard address: a name of digits', WILDCARD, at('192.0.2.7.example')],
  ['wildcard address: brackets without an address', WILDCARD_V6, at('[::x]')],
  ['an allowed name at another port', WILDCARD, at('windlass.internal:8001')],
])('%s: Host refused', (_, rule, headers) => {
  expect(rule(headers)).toMatch(/^Host .* is not allowed\. Add it to \[svc\.x\]\.hosts/)
})

test.each([
  ['another site', LOOPBACK, at('127.0.0.1:8000', 'https://evil.example')],
  ['a sandboxed page or a file', LOOPBACK, at('127.0.0.1:8000', 'null')],
  ['an empty Origin', LOOPBACK, at('127.0.0.1:8000', '')],
  ['another port', LOOPBACK, at('127.0.0.1:8000', 'http://127.0.0.1:3000')],
  ['another loopback name', LOOPBACK, at('127.0.0.1:8000', 'http://localhost:8000')],
  ['the default port for another one', LOOPBACK, at('127.0.0.1:8000', 'http://127.0.0.1')],
  ['a prefix', LOOPBACK, at('127.0.0.1:800', 'http://127.0.0.1:8000')],
  ['two origins', LOOPBACK, at('localhost', 'http://localhost, http://localhost')],
  ['an extension', LOOPBACK, at('localhost', 'chrome-extension://localhost')],
  ['no Host', LOOPBACK, { origin: 'http://localhost' }],
  ['the public host without TLS', PUBLISHED, at('windlass.example', 'http://windlass.example')],
  ['together with same-origin', LOOPBACK, at('localhost', 'http://evil.example', 'same-origin')],
])('%s: Origin refused', (_, rule, headers) => {
  expect(rule(headers)).toMatch(/^Origin .* is not the origin of this server/)
})

test.each(['cross-site', 'same-site', '', 'None', 'same-origin, none'])(
  'Sec-Fetch-Site %j: refused, also with the own origin',
  (site) => {
    for (const origin of [undefined, 'http://localhost'])
      expect(LOOPBACK(at('localhost', origin, site))).toMatch(/^Sec-Fetch-Site .* is not allowed/)
  },
)

test('a long value: shortened in the message', () => {
  expect(LOOPBACK(at('x'.repeat(10_000)))?.length).toBeLessThan(300)
})
