import { gzipSync } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import type { Caller } from '@windlass/domain/caller'
import { AuditService } from '@windlass/proto/windlass/identity/v1/audit'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { certificates } from '@windlass/testkit/certificates'
import { testIdentity } from '@windlass/testkit/service-identity'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { callerOf, type Handlers } from '../src/call.ts'
import { connect } from '../src/client.ts'
import { allow, allowOnBehalfOf, type RpcAccess } from '../src/policy.ts'
import { RpcServer } from '../src/server.ts'
import { createServiceIdentity } from '../src/service-identity.ts'
import { type RawHeaders, rawCall, rawMultiplexedCall } from './raw-calls.ts'

const SECRET = 'a secret of this test alone'
const as = (service: string) => createServiceIdentity(SECRET, service)
const gateway = as('gateway')

/** An rpc for the gateway without a caller, one with a caller, and one for the scheduler. */
const ACCESS: RpcAccess<typeof IdentityService> = {
  checkSession: allow('gateway'),
  issueSession: allowOnBehalfOf('gateway'),
  checkBootstrap: allow('scheduler'),
}
const PLAIN = IdentityService.checkSession.path
const VOUCHED = IdentityService.issueSession.path
const FOREIGN = IdentityService.checkBootstrap.path

/** A server that remembers on whose behalf it was called. */
async function serve(cluster = as('identity')) {
  const calls: (Caller | undefined)[] = []
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const server = new RpcServer(log, cluster)
  const handlers: Handlers<typeof IdentityService> = {
    async checkBootstrap(_, { caller }) {
      calls.push(caller)
      return { configured: true, valid: true }
    },
    async issueSession(_, call) {
      calls.push(callerOf(call))
      return { token: '' }
    },
    async checkSession(_, { caller }) {
      calls.push(caller)
      return { worker_name: 'w', session_id: '' }
    },
  }
  server.serve(IdentityService, handlers, ACCESS)
  const port = await server.listen({ host: '127.0.0.1', port: 0 }, [])
  onTestFinished(() => server.stop())
  return { calls, lines, address: `127.0.0.1:${port}` }
}

const HEALTH = '/grpc.health.v1.Health/Check'
const WATCH = '/grpc.health.v1.Health/Watch'
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
const CHANNELZ = '/grpc.channelz.v1.Channelz/GetTopChannels'
const stranger = createServiceIdentity('a secret that somebody guessed', 'gateway')
const root = { subject: 'root', issuer: 'svc' }
const shown = { authorization: gateway.serviceToken('identity') }
const vouched = gateway.signCaller(root, 'identity', VOUCHED)

test.each<[string, string, RawHeaders]>([
  ['no metadata', PLAIN, {}],
  ['a principal of its own making', PLAIN, { 'x-principal': 'admin', 'windlass-caller': 'admin' }],
  ['an empty credential', PLAIN, { authorization: '' }],
  ['a guessed credential', PLAIN, { authorization: 'Bearer admin' }],
  ['a name for a credential', PLAIN, { authorization: 'gateway' }],
  [
    'the credential of another cluster',
    PLAIN,
    { authorization: stranger.serviceToken('identity') },
  ],
  ['a credential for another service', PLAIN, { authorization: gateway.serviceToken('catalog') }],
  ['a statement for a credential', PLAIN, { authorization: `gateway:${vouched}` }],
  ['an API key', PLAIN, { authorization: `wk_${'0'.repeat(16)}.${'a'.repeat(43)}` }],
  ['nothing, about health', HEALTH, {}],
])('N153, N154, N158: %s is refused and reaches no handler', async (_, path, metadata) => {
  const { address, calls } = await serve()
  expect(await rawCall(address, path, metadata)).toBe(status.UNAUTHENTICATED)
  expect(await rawMultiplexedCall(address, path, metadata)).toBe(status.UNAUTHENTICATED)
  expect(calls).toEqual([])
})

test('N154: 5 MB without a token, plain and compressed: refused', async () => {
  const { address, calls } = await serve()
  const big = Buffer.alloc(5_000_000, 'a')
  expect(await rawCall(address, PLAIN, {}, big)).toBe(status.UNAUTHENTICATED)
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  expect(await rawCall(address, PLAIN, { 'grpc-encoding': 'gzip' }, bomb)).toBe(
    status.UNAUTHENTICATED,
  )
  expect(calls).toEqual([])
})

test.each([REFLECTION, CHANNELZ, WATCH, AuditService.record.path])(
  'N154: %s: served to no service here',
  async (path) => {
    const { address } = await serve()
    expect(await rawCall(address, path, { authorization: '' })).not.toBe(status.OK)
    expect(await rawCall(address, path, shown)).toBe(status.UNIMPLEMENTED)
    expect(await rawMultiplexedCall(address, path, shown)).toBe(status.UNIMPLEMENTED)
  },
)

const { UNAUTHENTICATED, PERMISSION_DENIED } = status
const speaking = (statement: string) => ({ ...shown, 'windlass-caller': statement })

test.each<[string, string, RawHeaders, status]>([
  ['an rpc of another service', FOREIGN, shown, PERMISSION_DENIED],
  [
    'it with a statement',
    FOREIGN,
    speaking(gateway.signCaller(root, 'identity', FOREIGN)),
    PERMISSION_DENIED,
  ],
  ['one without an on-behalf-of token', VOUCHED, shown, UNAUTHENTICATED],
  ['one with a name for a statement', VOUCHED, speaking('root'), UNAUTHENTICATED],
  ['one with an unsigned principal', VOUCHED, speaking(JSON.stringify(root)), UNAUTHENTICATED],
  [
    'one with the token of an unknown signer',
    VOUCHED,
    speaking(stranger.signCaller(root, 'identity', VOUCHED)),
    UNAUTHENTICATED,
  ],
  [
    'one with the statement of another service',
    VOUCHED,
    speaking(as('scheduler').signCaller(root, 'identity', VOUCHED)),
    UNAUTHENTICATED,
  ],
  [
    'one with a statement for another service',
    VOUCHED,
    speaking(gateway.signCaller(root, 'catalog', VOUCHED)),
    UNAUTHENTICATED,
  ],
  [
    'one with a statement for another rpc',
    VOUCHED,
    speaking(gateway.signCaller(root, 'identity', PLAIN)),
    UNAUTHENTICATED,
  ],
  [
    'one with its credential for a statement',
    VOUCHED,
    speaking(shown.authorization),
    UNAUTHENTICATED,
  ],
  ['one that asks for none with a false one', PLAIN, speaking('root'), UNAUTHENTICATED],
])(
  'another service of the cluster, %s: refused, as a unary call and on a stream',
  async (_, path, given, code) => {
    const { address, calls, lines } = await serve()
    expect(await rawCall(address, path, given)).toBe(code)
    expect(await rawMultiplexedCall(address, path, given)).toBe(code)
    expect(calls).toEqual([])
    // The log names the service and the rpc, and no token.
    expect(lines).toHaveLength(2)
    for (const line of lines) {
      expect(JSON.parse(line)).toMatchObject({ rpc: path, service: 'gateway' })
      expect(line).not.toMatch(/eyJ/)
    }
  },
)

test('a permitted call: answered on behalf of the named principal', async () => {
  const { address, calls } = await serve()
  for (const way of [rawCall, rawMultiplexedCall]) {
    expect(await way(address, PLAIN, shown)).toBe(status.OK)
    expect(await way(address, VOUCHED, speaking(vouched))).toBe(status.OK)
  }
  expect(calls).toEqual([undefined, root, undefined, root])
})

test('an rpc without a policy: serve throws', () => {
  const server = new RpcServer(pino({ level: 'silent' }), as('identity'))
  const { issueSession: _, ...rest } = ACCESS
  const handlers = { checkBootstrap: 0, issueSession: 0, checkSession: 0 } as never
  expect(() => server.serve(IdentityService, handlers, rest as typeof ACCESS)).toThrow(
    `no policy declared for ${VOUCHED}`,
  )
})

test('a service with another secret: refused with the reason', async () => {
  const { address } = await serve()
  const client = connect(IdentityService, [address], testIdentity('gateway'))
  onTestFinished(() => client.close())
  await expect(client.checkSession({ token: 'a' })).rejects.toThrow('no valid service token')
})

test('mutual TLS: both ends show a certificate of the same authority', async () => {
  const [{ tls }, { tls: other }] = [await certificates(), await certificates()]
  const { address, calls } = await serve(createServiceIdentity(SECRET, 'identity', tls))
  const client = (...given: Parameters<typeof createServiceIdentity>) => {
    const made = connect(IdentityService, [address], createServiceIdentity(...given))
    onTestFinished(() => made.close())
    return made
  }
  await client(SECRET, 'gateway', tls).checkSession({ token: 'let in' })
  for (const strange of [
    client(SECRET, 'gateway'),
    client(SECRET, 'gateway', other),
    client(SECRET, 'gateway', { ...other, ca: tls.ca }),
    client(SECRET, 'gateway', { ...tls, serverName: 'elsewhere' }),
  ])
    await expect(strange.checkSession({ token: 'out' }, { timeoutMs: 1_000 })).rejects.toThrow()
  expect(calls).toHaveLength(1)
})
