import { ANONYMOUS_CALLER } from '@windlass/domain/caller'
import { Readiness } from '@windlass/runtime/admin/readiness'
import { Settings } from '@windlass/runtime/config/settings'
import { Teardown } from '@windlass/runtime/process/teardown'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keysOf, parseKeys, RPC_SERVICES } from './pair-keys.ts'
import { createServiceIdentity, openServiceIdentity } from './service-identity.ts'

const SECRET = 'one secret of the cluster, long enough'
const member = (service: string, secret = SECRET) =>
  createServiceIdentity(parseKeys(service, keysOf(secret, service)), service)

const gateway = member('gateway')
const executions = member('executions')
const scheduler = member('scheduler')
const stranger = member('gateway', 'another secret altogether')

const ada = { subject: 'ada', issuer: 'https://issuer', key_prefix: 'wk_1' }
const RPC = '/windlass.executions.v1.Executions/Submit'
const said = (by = gateway, caller = ada, to = 'executions', rpc = RPC) =>
  by.signCaller(caller, to, rpc)

test('a service credential: names its service to the service it was made for, and is refused by any other', () => {
  const shown = gateway.serviceToken('executions')
  expect(executions.authenticateService(shown)).toBe('gateway')
  expect(member('identity').authenticateService(shown)).toBeUndefined()
  expect(gateway.authenticateService(shown)).toBeUndefined()
  for (const forged of [
    '',
    stranger.serviceToken('executions'),
    shown.replace('gateway', 'scheduler'),
  ])
    expect(executions.authenticateService(forged)).toBeUndefined()
})

test('a service without the key of another one: cannot impersonate a caller there', () => {
  const catalog = member('catalog')
  for (const to of RPC_SERVICES)
    expect(() => catalog.serviceToken(to), to).toThrow('no key for calls to')
  expect(() => scheduler.serviceToken('dispatcher')).toThrow('no key for calls to')
  expect(() => catalog.signCaller(ada, 'identity', RPC)).toThrow('no key for calls to')
})

test('all keys of one service: cannot sign as a second service to a third', () => {
  for (const stolen of RPC_SERVICES) {
    const known = new Set(keysOf(SECRET, stolen))
    for (const other of RPC_SERVICES.filter((name) => name !== stolen)) {
      const shared = keysOf(SECRET, other).filter((key) => known.has(key))
      for (const key of shared) expect(key.split(':').slice(0, 2)).toContain(stolen)
    }
  }
})

test('an on-behalf-of token: names the principal by subject, issuer and key', () => {
  expect(executions.verifyCaller(said(), 'gateway', RPC)).toEqual(ada)
  const other = { subject: 'ada', issuer: 'svc' }
  expect(executions.verifyCaller(said(gateway, other as typeof ada), 'gateway', RPC)).toEqual(other)
})

test('an anonymous caller: signed and verified like any other', () => {
  expect(
    executions.verifyCaller(
      gateway.signCaller(ANONYMOUS_CALLER, 'executions', RPC),
      'gateway',
      RPC,
    ),
  ).toEqual(ANONYMOUS_CALLER)
})

test.each([
  ['nothing', ''],
  ['an unsigned principal', '{"sub":"root","iss":"svc"}'],
  ['the token of an unknown signer', said(stranger)],
  ['the statement of another service', said(scheduler)],
  ['a statement for another service', said(gateway, ada, 'identity')],
  ['a statement for another rpc', said(gateway, ada, 'executions', `${RPC}s`)],
  ['a credential', gateway.serviceToken('executions')],
  ['a changed statement', said().replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
])('%s: rejected from every service', (_, statement) => {
  expect(executions.verifyCaller(statement, 'gateway', RPC)).toBeUndefined()
})

test('an on-behalf-of token as a credential: refused', () => {
  expect(executions.authenticateService(said())).toBeUndefined()
  expect(executions.authenticateService(`gateway:${said()}`)).toBeUndefined()
})

const MINUTE_MS = 60_000

beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'performance'] }))
afterEach(() => vi.useRealTimers())

/** The current service token, verified by a clock that is so many minutes ahead. */
function after(minutes: number): { isAdmitted: boolean; isBelieved: boolean } {
  const [from, to] = [member('gateway'), member('executions')]
  const [credential, statement] = [from.serviceToken('executions'), said(from)]
  vi.setSystemTime(Date.now() + minutes * MINUTE_MS)
  return {
    isAdmitted: to.authenticateService(credential) === 'gateway',
    isBelieved: to.verifyCaller(statement, 'gateway', RPC) !== undefined,
  }
}

test.each([0, 1, 60, -60])('a clock %i minutes ahead: accepted', (minutes) => {
  expect(after(minutes)).toEqual({ isAdmitted: true, isBelieved: true })
})

test.each([63, 600, -63, -600])('a clock %i minutes ahead: refused', (minutes) => {
  expect(after(minutes)).toEqual({ isAdmitted: false, isBelieved: false })
})

test('a token that was verified before: ends like any other', () => {
  const to = member('executions')
  const [credential, statement] = [gateway.serviceToken('executions'), said()]
  expect(to.authenticateService(credential)).toBe('gateway')
  expect(to.verifyCaller(statement, 'gateway', RPC)).toEqual(ada)
  vi.setSystemTime(Date.now() + 63 * MINUTE_MS)
  expect(to.authenticateService(credential)).toBeUndefined()
  expect(to.verifyCaller(statement, 'gateway', RPC)).toBeUndefined()
})

test('an on-behalf-of token: reused for a minute, then replaced', () => {
  const from = member('gateway')
  const first = said(from)
  vi.advanceTimersByTime(MINUTE_MS - 1)
  expect(said(from)).toBe(first)
  vi.advanceTimersByTime(2)
  expect(said(from)).not.toBe(first)
})

async function opened(rpc: Record<string, unknown>) {
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  return {
    cluster: await openServiceIdentity(Settings.parse({ rpc }), 'executions', {
      log,
      readiness: new Readiness(),
      teardown: new Teardown(log),
    }),
    lines,
  }
}

test('configured pair keys: equal those derived from the secret, without a warning', async () => {
  const { cluster, lines } = await opened({ keys: keysOf(SECRET, 'executions') })
  expect(cluster.authenticateService(gateway.serviceToken('executions'))).toBe('gateway')
  expect(lines).toEqual([])
})

test('the cluster secret: a warning; the secret and pair keys: the service does not start', async () => {
  const { cluster, lines } = await opened({ secret: SECRET })
  expect(cluster.authenticateService(gateway.serviceToken('executions'))).toBe('gateway')
  expect(lines).toEqual([expect.stringContaining('knows the secret of all services')])
  await expect(opened({ secret: SECRET, keys: keysOf(SECRET, 'executions') })).rejects.toThrow(
    'must not know the secret',
  )
})
