import { gzipSync } from 'node:zlib'
import { Client, credentials, Metadata, status } from '@grpc/grpc-js'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { certificates } from '@windlass/testkit/certificates'
import { testCluster } from '@windlass/testkit/cluster'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { clusterOf } from '../src/cluster.ts'
import type { Call, Handlers } from '../src/rpc.ts'
import { connect } from '../src/rpc-client.ts'
import { RpcServer } from '../src/rpc-server.ts'

const SECRET = 'a secret of this test alone'
const ours = clusterOf(SECRET, 'gateway')
const PATH = IdentityService.checkSession.path

/** A server that counts its calls and tells who asked. */
async function serve(cluster = ours) {
  const calls: { token: string; caller: Call['caller'] }[] = []
  const missing = async () => {
    throw new Error('not in this test')
  }
  const server = new RpcServer(pino({ level: 'silent' }), cluster)
  server.serve(IdentityService, {
    checkBootstrap: missing,
    issueSession: missing,
    async checkSession({ token }: { token: string }, { caller }: Call) {
      calls.push({ token, caller })
      return { worker_name: 'w', session_id: '' }
    },
  } as Partial<Handlers<typeof IdentityService>> as Handlers<typeof IdentityService>)
  const port = await server.listen({ host: '127.0.0.1', port: 0 }, [])
  onTestFinished(() => server.stop())
  return { calls, address: `127.0.0.1:${port}` }
}

/** A call of somebody who speaks gRPC, with metadata of his own. */
function strange(address: string, path: string, given: Record<string, string>, body: Buffer) {
  const client = new Client(address, credentials.createInsecure())
  onTestFinished(() => client.close())
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(given)) metadata.set(name, value)
  const bytes = (value: Buffer) => value
  return new Promise<number>((resolve) => {
    client.makeUnaryRequest(path, bytes, bytes, body, metadata, (error) =>
      resolve(error?.code ?? status.OK),
    )
  })
}

const HEALTH = '/grpc.health.v1.Health/Check'
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
const CHANNELZ = '/grpc.channelz.v1.Channelz/GetTopChannels'
const stranger = clusterOf('a secret that somebody guessed', 'gateway')
const root = { subject: 'root', issuer: 'svc' }

test.each<[string, string, Record<string, string>]>([
  ['no metadata', PATH, {}],
  ['a principal of its own making', PATH, { 'x-principal': 'admin', 'windlass-caller': 'admin' }],
  ['an empty credential', PATH, { authorization: '' }],
  ['a guessed credential', PATH, { authorization: 'Bearer admin' }],
  ['the credential of another cluster', PATH, { authorization: stranger.credential() }],
  ['a statement for a credential', PATH, { authorization: ours.vouch(root) }],
  ['an API key', PATH, { authorization: `wk_${'0'.repeat(16)}.${'a'.repeat(43)}` }],
  ['nothing, about health', HEALTH, {}],
])('N153, N154, N158: %s is refused and reaches no handler', async (_, path, metadata) => {
  const { address, calls } = await serve()
  expect(await strange(address, path, metadata, Buffer.alloc(0))).toBe(status.UNAUTHENTICATED)
  expect(calls).toEqual([])
})

test('N154: 5 MB from a stranger are refused, plain and as a bomb', async () => {
  const { address, calls } = await serve()
  const big = Buffer.alloc(5_000_000, 'a')
  expect(await strange(address, PATH, {}, big)).toBe(status.UNAUTHENTICATED)
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  expect(await strange(address, PATH, { 'grpc-encoding': 'gzip' }, bomb)).toBe(
    status.UNAUTHENTICATED,
  )
  expect(calls).toEqual([])
})

test.each([REFLECTION, CHANNELZ])('N154: %s is served to nobody', async (path) => {
  const { address } = await serve()
  for (const authorization of ['', ours.credential()])
    expect(await strange(address, path, { authorization }, Buffer.alloc(0))).toBe(
      status.UNIMPLEMENTED,
    )
})

test('a service of the cluster is let in, and the statement that it shows is believed', async () => {
  const { address, calls } = await serve()
  const client = connect(IdentityService, [address], ours)
  onTestFinished(() => client.close())
  await client.checkSession({ token: 'a' })
  await client.checkSession({ token: 'b' }, { caller: ours.vouch(root) })
  await client.checkSession({ token: 'c' }, { caller: stranger.vouch(root) })
  await client.checkSession({ token: 'd' }, { caller: JSON.stringify(root) })
  expect(calls).toEqual([
    { token: 'a', caller: undefined },
    { token: 'b', caller: root },
    { token: 'c', caller: undefined },
    { token: 'd', caller: undefined },
  ])
})

test('a service with another secret is refused, and learns why', async () => {
  const { address } = await serve()
  const client = connect(IdentityService, [address], testCluster)
  onTestFinished(() => client.close())
  await expect(client.checkSession({ token: 'a' })).rejects.toThrow('no credential of this cluster')
})

test('mutual TLS: both ends show a certificate of the same authority', async () => {
  const [{ tls }, { tls: other }] = [await certificates(), await certificates()]
  const { address, calls } = await serve(clusterOf(SECRET, 'identity', tls))
  const client = (...given: Parameters<typeof clusterOf>) => {
    const made = connect(IdentityService, [address], clusterOf(...given))
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
  expect(calls.map(({ token }) => token)).toEqual(['let in'])
})
