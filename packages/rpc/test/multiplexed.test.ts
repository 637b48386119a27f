import { createServer, connect as dial, type Socket } from 'node:net'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { Fault } from '@windlass/runtime/faults'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import type { Call } from '../src/call.ts'
import { connect } from '../src/client.ts'
import { MultiplexedCall } from '../src/multiplexed-server.ts'
import { createServiceIdentity } from '../src/service-identity.ts'
import { HOST, type IdentityHandlers, serveIdentity } from './identity-server.ts'

type Check = IdentityHandlers['checkSession']

/** The part of the standard health service that this test calls. */
const HealthService = {
  check: {
    path: '/grpc.health.v1.Health/Check',
    requestStream: false,
    responseStream: false,
    requestSerialize: () => Buffer.alloc(0),
    requestDeserialize: () => ({}),
    responseSerialize: () => Buffer.alloc(0),
    responseDeserialize: (bytes: Buffer) => ({ status: bytes[1] === 1 ? 'SERVING' : 'NOT' }),
  },
} as const
const HELD = 'held'

/** A server that says whether a call came on a stream, and holds one back until it is released. */
async function serve({ check = undefined as Check | undefined } = {}) {
  const held: (() => void)[] = []
  const served = await serveIdentity({
    async checkSession(request, call: Call) {
      if (request.token === HELD) await new Promise<void>((resolve) => held.push(resolve))
      if (check && request.token !== '') return check(request, call)
      return { worker_name: call instanceof MultiplexedCall ? 'stream' : 'alone', session_id: '' }
    },
  })
  return { ...served, held }
}

type Identity = Awaited<ReturnType<typeof clientOf>>

/** A client whose streams are open. */
async function clientOf(...ports: number[]) {
  const identity = connect(
    IdentityService,
    ports.map((port) => `${HOST}:${port}`),
    testIdentity('gateway'),
  )
  onTestFinished(() => identity.close())
  await untilCarried(identity)
  return identity
}

const way = async (identity: Identity, token = '') =>
  (await identity.checkSession({ token })).worker_name

const untilCarried = (identity: Identity) => expect.poll(() => way(identity)).toBe('stream')

test('small requests: on the stream; large requests: unary calls', async () => {
  const { port } = await serve()
  const identity = await clientOf(port)
  expect(await way(identity, 'x'.repeat(1_000))).toBe('stream')
  expect(await way(identity, 'x'.repeat(100_000))).toBe('alone')
})

test('an rpc that the server does not serve on streams: a unary call', async () => {
  const { port } = await serve()
  await clientOf(port)
  const health = connect(HealthService, [`${HOST}:${port}`], testIdentity('gateway'), 'identity')
  onTestFinished(() => health.close())
  expect(await health.check({})).toEqual({ status: 'SERVING' })
})

test('a fault in a handler: rejects the call unchanged', async () => {
  const details = { problems: [{ loc: ['body', 'name'], msg: 'grüße', type: 'x' }] }
  const { port } = await serve({
    async check() {
      throw new Fault('unprocessable', 'no — never', { details })
    },
  })
  const identity = await clientOf(port)
  const refused = identity.checkSession({ token: 'x' })
  await expect(refused).rejects.toMatchObject({
    kind: 'unprocessable',
    message: 'no — never',
    details,
  })
})

test('a call: its handler receives the calling service, the caller and the request id', async () => {
  const asked: unknown[] = []
  const { port } = await serve({
    async check(_, { service, caller, requestId }) {
      asked.push([service, caller, requestId])
      return { worker_name: '', session_id: '' }
    },
  })
  const identity = await clientOf(port)
  const ann = { subject: 'ann', issuer: 'svc' }
  for (const token of ['x', 'x'.repeat(100_000)]) {
    await identity.checkSession({ token }, { caller: ann, requestId: 'r-1' })
    await identity.checkSession({ token })
  }
  const [of, without] = [
    ['gateway', ann, 'r-1'],
    ['gateway', undefined, ''],
  ]
  expect(asked).toEqual([of, without, of, without])
})

test('no valid service token: no stream opens', async () => {
  const { port } = await serve()
  const stranger = connect(
    IdentityService,
    [`${HOST}:${port}`],
    createServiceIdentity('another secret', 'gateway'),
  )
  onTestFinished(() => stranger.close())
  for (let i = 0; i < 10; i++) {
    await expect(stranger.checkSession({ token: '' })).rejects.toThrow('no valid service token')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})

test('an error that is no Fault: internal error without details', async () => {
  const { port } = await serve({
    async check() {
      throw new Error('select * from secrets')
    },
  })
  const identity = await clientOf(port)
  const failed = identity.checkSession({ token: 'x' })
  await expect(failed).rejects.toMatchObject({ message: 'rpc failed: internal error' })
})

test('a slow call: does not delay others on its stream', async () => {
  const { port, held } = await serve()
  const identity = await clientOf(port)
  const slow = way(identity, HELD)
  expect(await way(identity)).toBe('stream')
  await expect.poll(() => held.length).toBe(1)
  held[0]?.()
  expect(await slow).toBe('stream')
})

test('deadline exceeded: the call rejects and the signal of its handler aborts', async () => {
  let isAborted = false
  const { port } = await serve({
    check: (_, { signal }) =>
      new Promise(() => signal.addEventListener('abort', () => (isAborted = true))),
  })
  const identity = await clientOf(port)
  const late = identity.checkSession({ token: 'x' }, { timeoutMs: 100 })
  await expect(late).rejects.toMatchObject({ kind: 'unavailable' })
  await expect.poll(() => isAborted).toBe(true)
})

test('a stopping server: answers its pending calls, and other replicas serve new ones', async () => {
  const [a, b] = [await serve(), await serve()]
  const identity = await clientOf(a.port, b.port)
  await expect.poll(() => Promise.all([way(identity), way(identity)])).not.toContain('alone')
  const slow = [way(identity, HELD), way(identity, HELD)]
  await expect.poll(() => a.held.length + b.held.length).toBe(2)
  const stopped = a.server.stop()
  for (let i = 0; i < 20; i++) expect(await way(identity)).not.toBe('')
  for (const release of [...a.held, ...b.held]) release()
  expect(await Promise.all(slow)).toEqual(['stream', 'stream'])
  await stopped
})

test('a broken stream: its calls are unavailable, and it is opened again', async () => {
  const { port, held } = await serve()
  const through = await cable(port)
  const identity = await clientOf(through.port)
  const lost = way(identity, HELD)
  lost.catch(() => {})
  await expect.poll(() => held.length).toBe(1)
  through.cut()
  await expect(lost).rejects.toMatchObject({ kind: 'unavailable' })
  await untilCarried(identity)
})

/** A way to the server that can be cut. */
async function cable(to: number) {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = dial(to, HOST)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    server.close()
    cut()
  })
  return { port: (server.address() as { port: number }).port, cut }
}

test('answerNow: the handler ends early and its response is delivered', async () => {
  const hurried: boolean[] = []
  const { port } = await serve({
    check: async (_, { answerNow, signal }) => {
      await new Promise((resolve) => answerNow.addEventListener('abort', resolve, { once: true }))
      hurried.push(answerNow.aborted && !signal.aborted)
      return { worker_name: 'early', session_id: '' }
    },
  })
  const identity = await clientOf(port)
  const answerNow = new AbortController()
  const answer = identity.checkSession({ token: 'slow' }, { answerNow: answerNow.signal })
  await identity.checkSession({ token: '' })
  answerNow.abort()
  expect(await answer).toMatchObject({ worker_name: 'early' })
  expect(hurried).toEqual([true])
})
