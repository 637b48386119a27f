import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { Fault } from '@windlass/runtime/faults'
import { testIdentity } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/client.ts'
import { HOST, serveIdentity } from './identity-server.ts'

function client(...ports: number[]) {
  const identity = connect(
    IdentityService,
    ports.map((port) => `${HOST}:${port}`),
    testIdentity('gateway'),
  )
  onTestFinished(() => identity.close())
  return identity
}

test('a fault in a handler: rejects the call with its kind, message and details', async () => {
  const details = { problems: [{ loc: ['body', 'name'], msg: 'grüße', type: 'x' }] }
  const { port } = await serveIdentity({
    async checkSession() {
      throw new Fault('unprocessable', 'no — never', { details })
    },
  })
  await expect(client(port).checkSession({ token: 'x' })).rejects.toMatchObject({
    kind: 'unprocessable',
    details,
  })
})

test('a handler that throws before its first await: its error is the response', async () => {
  const { port } = await serveIdentity({
    checkSession() {
      throw new Fault('conflict', 'at once')
    },
  })
  for (const token of ['x', large])
    await expect(client(port).checkSession({ token })).rejects.toMatchObject({ kind: 'conflict' })
})

const large = 'x'.repeat(100_000) // a unary call: too large for the stream

test('replicas by host name and by address: each is called', async () => {
  const named = (worker_name: string) => ({ checkSession: async () => ({ worker_name }) as never })
  const [a, b] = [await serveIdentity(named('a')), await serveIdentity(named('b'))]
  const addresses = [a, b].map(({ port }) => `LOCALHOST:${port}`)
  const identity = connect(IdentityService, addresses, testIdentity('gateway'))
  onTestFinished(() => identity.close())
  for (const token of ['x', large]) {
    const answered = new Set<string>()
    await expect
      .poll(async () => answered.add((await identity.checkSession({ token })).worker_name).size)
      .toBe(2)
  }
})

test('an error that is no Fault: internal error without details', async () => {
  const { port } = await serveIdentity({
    async checkSession() {
      throw new Error('select * from secrets')
    },
  })
  await expect(client(port).checkSession({ token: 'x' })).rejects.not.toMatchObject({
    message: expect.stringContaining('secrets'),
  })
})

test('an outage of the database: unavailable, not an internal error', async () => {
  const { port } = await serveIdentity({
    async checkSession() {
      throw Object.assign(new Error('terminating connection'), { code: '57P01' })
    },
  })
  await expect(client(port).checkSession({ token: 'x' })).rejects.toMatchObject({
    kind: 'unavailable',
  })
})

test('N6: a call without a response: rejected at its deadline', async () => {
  const { port } = await serveIdentity({ checkSession: () => new Promise(() => {}) })
  await expect(client(port).checkSession({ token: 'x' }, { timeoutMs: 100 })).rejects.toMatchObject(
    { kind: 'unavailable' },
  )
})

test('a large request: has a second more for each MiB', async () => {
  const { port } = await serveIdentity({
    checkSession: async () => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      return { worker_name: 'w' } as never
    },
  })
  const call = (token: string) => client(port).checkSession({ token }, { timeoutMs: 100 })
  await expect(call('x')).rejects.toMatchObject({ kind: 'unavailable' })
  // The rest of the time is that of a busy machine.
  expect(await call('x'.repeat(20 * 2 ** 20))).toMatchObject({ worker_name: 'w' })
})

test('a caller that disconnects: aborts the signal of its handler', async () => {
  let heard = false
  const leaving = new AbortController()
  const { port } = await serveIdentity({
    checkSession: (_, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          heard = true
          reject(new Error('gone'))
        })
        leaving.abort()
      }),
  })
  const call = client(port).checkSession({ token: 'x' }, { signal: leaving.signal })
  await expect(call).rejects.toMatchObject({ kind: 'unavailable' })
  await expect.poll(() => heard).toBe(true)
})

test('N6: a restarting service: calls wait for it, and replicas share them', async () => {
  const served = [0, 0]
  const handler = (i: number) => ({
    async checkSession() {
      served[i] = (served[i] ?? 0) + 1
      return { worker_name: `${i}`, session_id: '' }
    },
  })
  const [a, b] = [await serveIdentity(handler(0)), await serveIdentity(handler(1))]
  const identity = client(a.port, b.port)
  const burst = () =>
    Promise.all(Array.from({ length: 40 }, () => identity.checkSession({ token: 'x' })))
  // The first calls go to whichever replica was connected first.
  await expect.poll(() => burst().then(() => Math.min(...served))).toBeGreaterThan(20)
  await Promise.all([a.server.stop(), b.server.stop()])
  const waiting = identity.checkSession({ token: 'x' })
  await serveIdentity(handler(0), { port: a.port })
  expect(await waiting).toMatchObject({ worker_name: '0' })
})
