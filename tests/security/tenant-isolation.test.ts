import type { Route } from '@windlass/gateway/route/route'
import { routes } from '@windlass/gateway/routes/index'
import type { Service } from '@windlass/testkit/system-processes'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { issueToken } from './forged-tokens.ts'
import { idleWorker } from './idle-worker.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), {
    singleProcess: false,
    replicas: { gateway: 2 },
  })
  for (const namespace of ['a', 'b']) await auth.upload(workflowSource(namespace, 'x'))
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

const HANG_MS = 60_000

/** Opens a stream. Returns a state that says whether it has ended. */
async function open(method: string, path: string, token: string) {
  const leave = new AbortController()
  teardown.push(() => leave.abort())
  const response = await fetch(auth.system.gateways[1] + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    signal: leave.signal,
  })
  expect(response.status, path).toBe(200)
  const state = { isOver: false }
  const read = async () => {
    for await (const _ of response.body as unknown as AsyncIterable<Uint8Array>);
  }
  void read()
    .catch(() => {})
    .then(() => {
      state.isOver = true
    })
  return state
}

test('A4: permission of a reader revoked: its stream ends, streams of other readers stay open', async () => {
  const { execution_id = '' } = await auth.requestOk('POST /workflows/a/x/run/async', {
    body: null,
  })
  await auth.requestOk('POST /admin/roles', {
    body: { name: 'watcher', permissions: ['workflow:a:*', 'execution:*:read'] },
  })
  const other = await auth.createAccount(['watcher'])
  const events = `/executions/${execution_id}/events`
  const staying = await open('GET', events, other.key)
  const revocations: [what: (subject: string) => string, path: string, method: string][] = [
    [(subject) => `DELETE /admin/principals/${subject}/keys/k`, events, 'GET'],
    [(subject) => `POST /admin/principals/${subject}/disable`, '/workflows/a/x/run/stream', 'POST'],
    [
      (subject) => `DELETE /admin/principals/${subject}/roles/watcher`,
      `/executions/${execution_id}?mode=stream`,
      'GET',
    ],
  ]
  for (const [revoke, path, method] of revocations) {
    const { subject, key } = await auth.createAccount(['watcher'])
    const stream = await open(method, path, key)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(stream.isOver, path).toBe(false)
    await auth.requestOk(revoke(subject))
    await expect.poll(() => stream.isOver, { timeout: HANG_MS }).toBe(true)
  }
  expect(staying.isOver).toBe(false)
})

test('A4: API key of a worker account revoked: the worker stream ends', async () => {
  const { subject, key } = await auth.createAccount(['worker'])
  const registered = await idleWorker(auth, subject)
  registered.disconnect()
  await registered.closed
  const stream = await open('GET', `/workers/${subject}/connect`, key)
  await auth.requestOk(`DELETE /admin/principals/${subject}/keys/k`)
  await expect.poll(() => stream.isOver, { timeout: HANG_MS }).toBe(true)
})

test('N071: reading an execution: requires execution:<id>:read; workflow permissions do not suffice', async () => {
  const { execution_id: id = '' } = await auth.requestOk('POST /workflows/a/x/run/async', {
    body: null,
  })
  const other = 'f'.repeat(32)
  for (const [permissions, status] of [
    [['execution:*:read'], 200],
    [[`execution:${id}:read`], 200],
    [[`execution:${other}:read`], 403],
    [['workflow:a:*'], 403],
  ] as const)
    for (const gateway of [0, 1])
      for (const path of ['', '/events', '/explain', '?mode=stream']) {
        const asked = { token: await auth.keyWith(permissions) }
        const answer = await auth.request(`GET /executions/${id}${path}`, asked, gateway)
        expect([path, answer.status]).toEqual([path, status])
      }
})

/** Paths of all GET routes, with placeholder parameters. */
const readPaths = (routes as readonly Route[])
  .filter(({ method, access }) => method === 'get' && !/^own |public/.test(access))
  .map(({ path }) =>
    path
      .replace('{version}', '1')
      .replaceAll(/{execution_id}/g, 'f'.repeat(32))
      .replaceAll(/{\w+}/g, 'x'),
  )

test.each(['catalog', 'executions', 'dispatcher', 'scheduler'] as Service[])(
  'N144: %s down: every GET route answers normally or 503, without internal details',
  async (service) => {
    const [process] = auth.system.of(service)
    await process?.end('SIGKILL')
    const get = async (path: string, gateway: number) => {
      const asked = await auth.request(`GET ${path}`, { token: auth.admin }, gateway)
      const { status, text, headers } = asked
      expect(status === 503 || status < 500, `${path}: ${status} ${text}`).toBe(true)
      if (status !== 503) return status
      expect(headers['retry-after'], path).toBeDefined()
      expect(text).not.toMatch(/ECONN|127\.0\.0\.1|grpc/i)
      // The name of the gRPC status; the word itself is part of the detail.
      expect(text).not.toMatch(/UNAVAILABLE/)
      return status
    }
    const statuses = await Promise.all(
      [0, 1].flatMap((gateway) => readPaths.map((path) => get(path, gateway))),
    )
    await process?.start()
    expect(statuses).toContain(503)
  },
)

test('A3: identity down: unknown credentials get 503, never access and never 401', async () => {
  const known = await auth.keyWith(['workflow:a:*', 'known:once'])
  const fresh = await auth.keyWith(['workflow:a:*', 'known:never'])
  expect((await auth.request('GET /workflows/a/x', { token: known })).status).toBe(200)
  const [identity] = auth.system.of('identity')
  await identity?.end('SIGKILL')
  const wrong = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
  const refused = [fresh, wrong, issueToken(auth.idp, 'RS256')].flatMap((token) =>
    [0, 1].map((gateway) => auth.request('GET /workflows/a/x', { token }, gateway)),
  )
  for (const { status, text } of await Promise.all(refused)) expect(status, text).toBe(503)
  // A cached answer stays valid: nothing can be revoked while identity is down.
  expect([200, 503]).toContain((await auth.request('GET /workflows/a/x', { token: known })).status)
  await identity?.start()
  await expect
    .poll(async () => (await auth.request('GET /workflows/a/x', { token: fresh })).status, {
      timeout: HANG_MS,
    })
    .toBe(200)
  expect((await auth.request('GET /workflows/a/x', { token: wrong })).status).toBe(401)
})
