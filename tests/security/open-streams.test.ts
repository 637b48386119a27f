import { workerRecord } from '@windlass/testkit/worker-record'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { idleWorker } from './idle-worker.ts'
import { callTool } from './mcp-client.ts'

/** Promised is a heartbeat, 0.2 s here. */
const HANG_MS = 30_000
const ROLE = ['workflow:*:*', 'execution:*:read', 'schedule:*:read', 'worker:*:*']

const teardown: (() => unknown)[] = []
let auth: AuthSystem
/** Claimed by a worker that does nothing with it, so a cancel of it waits. */
let held = ''
/** Queued without a worker. */
let queued = ''

beforeAll(async () => {
  const defer = (one: () => unknown) => void teardown.push(one)
  auth = await startAuthSystem(defer, {
    replicas: { gateway: 2 },
    env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '3600', SVC_EXECUTIONS__CANCEL_TIMEOUT: '3600' },
  })
  const pinned = (pool: string) => workflowSource('w', pool, `, affinity={"pool": "${pool}"}`)
  for (const pool of ['a', 'b']) expect((await auth.upload(pinned(pool))).status).toBe(200)
  const worker = await idleWorker(auth, 'holder', { pool: 'b' })
  defer(() => worker.disconnect())
  const run = async (name: string) =>
    (await auth.requestOk(`POST /workflows/w/${name}/run/async`, { body: null })).execution_id ?? ''
  held = await run('b')
  await worker.claim(held)
  queued = await run('a')
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

interface Ended {
  status: number
  text: string
  at: number
}

/** Sends a request, and reads its answer until it ends. */
async function open(what: string, headers: Record<string, string>, body?: string): Promise<Ended> {
  const [method = '', path = ''] = what.split(' ')
  const response = await fetch((auth.system.gateways[1] ?? '') + path, { method, headers, body })
  const text = await response.text().catch((error) => `cut off: ${error}`)
  return { status: response.status, text, at: performance.now() }
}

/** Requests that stay open for a long time, each with the end that a revocation has to give it. */
const OPEN: [name: string, request: () => string, end: RegExp][] = [
  ['the events of an execution', () => `GET /executions/${queued}/events`, /access_denied/],
  ['an execution as a stream', () => `GET /executions/${queued}?mode=stream`, /access_denied/],
  ['a run as a stream', () => 'POST /workflows/w/a/run/stream', /access_denied/],
  ['lists', () => 'GET /events/stream?topics=executions,schedules', /access_denied/],
  ['a synchronous run', () => 'POST /workflows/w/a/run/sync', /"execution_id"/],
  ['a synchronous cancel', () => `GET /workflows/w/b/cancel/${held}?mode=sync`, /"detail"/],
]

/** The same through MCP. */
const SYNC_TOOL = {
  name: 'execute_workflow_sync',
  arguments: { workflow_namespace: 'w', workflow_name: 'a', input_data: 'null' },
}

interface Account {
  subject: string
  key: string
  role: string
}

const REVOCATIONS: [what: string, request: (account: Account) => string, body?: object][] = [
  ['its key is revoked', ({ subject }) => `DELETE /admin/principals/${subject}/keys/k`],
  ['it is disabled', ({ subject }) => `POST /admin/principals/${subject}/disable`],
  ['it is deleted', ({ subject }) => `DELETE /admin/principals/${subject}?force=true`],
  ['its role is taken', ({ subject, role }) => `DELETE /admin/principals/${subject}/roles/${role}`],
  [
    'its role is changed',
    ({ role }) => `PATCH /admin/roles/${role}`,
    { remove_permissions: ROLE, add_permissions: ['workflow:other:*:read'] },
  ],
]

/** Resolves to `open` if none has a result within a second. */
const isOpen = async (...all: Promise<unknown>[]) => {
  const pause = new Promise((resolve) => setTimeout(() => resolve('open'), 1_000))
  return Promise.race([...all, pause])
}

test.each(REVOCATIONS)(
  'streams and waits of an account when %s: all end',
  async (what, request, change) => {
    const role = `open-${what.replaceAll(' ', '-')}`
    await auth.requestOk('POST /admin/roles', { body: { name: role, permissions: ROLE } })
    const { subject, key } = await auth.createAccount([role])
    const headers = { authorization: `Bearer ${key}` }
    const opened = OPEN.map(([, path]) => open(path(), headers))
    const token = await auth.system.bootstrapToken()
    await auth.requestOk('POST /workers/register', {
      token,
      body: workerRecord(subject, { capacity: 1 }),
    })
    const worker = open(`GET /workers/${subject}/connect`, headers)
    const tool = callTool(auth, SYNC_TOOL, { token: key }).then(({ text }) => ({
      text,
      at: performance.now(),
    }))
    expect(await isOpen(...opened, worker, tool)).toBe('open')

    await auth.requestOk(request({ subject, key, role }), { body: change })
    const revokedAt = performance.now()
    const ends = await Promise.all([...opened, worker, tool])
    const slowest = Math.max(...ends.map(({ at }) => at)) - revokedAt
    expect(slowest).toBeLessThan(HANG_MS)
    console.info(`${what}: the last of ${ends.length} ended after ${Math.round(slowest)} ms`)
    for (const [i, [name, , end]] of OPEN.entries())
      expect([name, (await opened[i])?.text]).toEqual([name, expect.stringMatching(end)])
    expect((await tool).text).toMatch(/HTTP error: 40[13]/)
  },
  2 * HANG_MS,
)

test('the session of a worker is ended: its stream ends', async () => {
  const worker = await idleWorker(auth, 'ended', { pool: 'none' })
  expect(await isOpen(worker.closed)).toBe('open')
  await auth.requestOk('DELETE /workers/ended/session')
  const endedAt = performance.now()
  await worker.closed
  console.info(
    `session ended: the stream ended after ${Math.round(performance.now() - endedAt)} ms`,
  )
  expect((await worker.call('pong')).status).toBe(401)
})

const OF_CONSOLE = { 'x-windlass-console': '1', 'sec-fetch-site': 'same-origin' }

test.each([
  ['a sign-out', () => 'DELETE /console/session'],
  ['its end in another browser', (id: string) => `DELETE /console/sessions/${id}`],
])('a stream of the console after %s: ends', async (_, request) => {
  const { key } = await auth.createAccount(['admin'])
  const [url = ''] = auth.system.gateways
  const signIn = async () => {
    const response = await fetch(`${url}/console/session`, {
      method: 'POST',
      headers: { ...OF_CONSOLE, 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: key }),
    })
    return { ...OF_CONSOLE, cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' }
  }
  const headers = await signIn()
  const { sessions } = (await (await fetch(`${url}/console/sessions`, { headers })).json()) as {
    sessions: { id: string }[]
  }
  const other = await signIn()
  // The cookie has the name of the first gateway's port.
  const read = async (path: string) => (await fetch(url + path, { headers })).text()
  const streams = [read('/events/stream'), read(`/executions/${queued}/events`)]
  expect(await isOpen(...streams)).toBe('open')
  const [method = '', path = ''] = request(sessions[0]?.id ?? '').split(' ')
  const by = path === '/console/session' ? headers : other
  expect((await fetch(url + path, { method, headers: by })).status).toBe(200)
  for (const text of await Promise.all(streams)) expect(text).toContain('access_denied')
})
