import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { exposeMetrics } from '@windlass/testkit/exposed-metrics'
import { allowAll, TEST_RPC_SECRET } from '@windlass/testkit/service-identity'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/client.ts'
import { PeerVersions } from '../src/peer-versions.ts'
import { RpcServer } from '../src/server.ts'
import { createServiceIdentity } from '../src/service-identity.ts'

const HANG_MS = 30_000
const PROBLEM = 'windlass_problems{problem="version_skew"'
const SILENT = pino({ level: 'silent' })

/** Identity of a process of a release; without a version it announces none. */
function processOf(service: string, version?: string) {
  const lines: { level: number; problem?: string; msg: string }[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const identity = createServiceIdentity(TEST_RPC_SECRET, service)
  if (version === undefined) return { identity, lines, isReady: async () => true }
  const peers = new PeerVersions(log, version)
  onTestFinished(() => peers.close())
  const isReady = () =>
    peers.check().then(
      () => true,
      () => false,
    )
  return { identity: { ...identity, peers }, lines, isReady }
}

/** Serves identity until the test ends or `stop` is called. */
async function serve(version?: string, port = 0) {
  const { identity, lines, isReady } = processOf('identity', version)
  const server = new RpcServer(SILENT, identity)
  const handlers = {
    checkBootstrap: async () => ({}) as never,
    issueSession: async () => ({}) as never,
    checkSession: async () => ({}) as never,
  }
  server.serve(IdentityService, handlers as never, allowAll(IdentityService))
  const bound = await server.listen({ host: '127.0.0.1', port }, [])
  onTestFinished(() => server.stop())
  return { port: bound, lines, isReady, stop: () => server.stop() }
}

/** Connects a gateway of a release to servers; resolves when a call has been answered. */
async function call(version: string | undefined, ports: readonly number[]) {
  const gateway = processOf('gateway', version)
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  const client = connect(IdentityService, addresses, gateway.identity)
  onTestFinished(() => client.close())
  await client.checkSession({ token: 'x' })
  return { ...gateway, close: () => client.close() }
}

test('two minor versions apart: the newer process is not ready, the older one is', async () => {
  const server = await serve('1.2.0')
  const gateway = await call('1.4.1', [server.port])
  await expect.poll(gateway.isReady, { timeout: HANG_MS }).toBe(false)
  expect(gateway.lines).toContainEqual(
    expect.objectContaining({
      level: 50,
      problem: 'version_skew',
      msg: expect.stringMatching(
        /release 1\.4\.1, more than one minor version from identity 1\.2\.0/,
      ),
    }),
  )
  expect(await server.isReady()).toBe(true)
  expect(server.lines).toContainEqual(
    expect.objectContaining({ level: 40, peer: 'gateway', peer_version: '1.4.1' }),
  )
})

test('one old process among newer ones: only the old one is not ready', async () => {
  const servers = [await serve('2.1.0'), await serve('2.1.3')]
  const ports = servers.map(({ port }) => port)
  const newer = await call('2.1.0', ports)
  const older = await call('1.9.0', ports)
  await expect.poll(older.isReady, { timeout: HANG_MS }).toBe(false)
  for (const { isReady } of [newer, ...servers]) expect(await isReady()).toBe(true)
})

test('the other process is replaced by one of a near release: ready again, without a restart', async () => {
  const metric = exposeMetrics()
  const server = await serve('1.2.0')
  const gateway = await call('1.4.0', [server.port])
  await expect.poll(gateway.isReady, { timeout: HANG_MS }).toBe(false)
  expect(await metric(PROBLEM)).toBe(1)
  expect(await metric('windlass_version_skew_connections{peer="identity"')).toBe(1)
  await server.stop()
  await serve('1.3.0', server.port)
  await expect.poll(gateway.isReady, { timeout: HANG_MS }).toBe(true)
  expect(gateway.lines.at(-1)).toMatchObject({ level: 30, problem: 'version_skew' })
  expect(await metric(PROBLEM)).toBe(0)
})

test.each([
  ['1.4.0', '1.3.9'],
  ['1.4.0', undefined],
  [undefined, '1.4.0'],
  ['1.4.0', 'unknown'],
])('a gateway of release %s, a server of %s: both are ready', async (own, other) => {
  const server = await serve(other)
  const gateway = await call(own, [server.port])
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect([await gateway.isReady(), await server.isReady()]).toEqual([true, true])
})
