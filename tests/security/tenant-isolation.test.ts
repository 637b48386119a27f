import type { Route } from '@windlass/gateway/route'
import { routes } from '@windlass/gateway/routes/index'
import type { Service } from '@windlass/testkit/system'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { issueToken } from './forged-tokens.ts'
import { idleWorker } from './idle-worker.ts'

const undo: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => undo.push(one), { replicas: { gateway: 2 } })
  for (const namespace of ['a', 'b']) await auth.upload(workflowSource(namespace, 'x'))
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

const HANG_MS = 10_000

/** Opens a stream and answers a promise of its end. */
async function open(method: string, path: string, token: string) {
  const leave = new AbortController()
  undo.push(() => leave.abort())
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

test('A4: a stream ends with the right of its reader, and those of others go on', async () => {
  const { execution_id = '' } = await auth.must('POST /workflows/a/x/run/async', { body: null })
  await auth.must('POST /admin/roles', {
    body: { name: 'watcher', permissions: ['workflow:a:*', 'execution:*:read'] },
  })
  const other = await auth.account(['watcher'])
  const events = `/executions/${execution_id}/events`
  const staying = await open('GET', events, other.key)
  const ways: [what: (subject: string) => string, path: string, method: string][] = [
    [(subject) => `DELETE /admin/principals/${subject}/keys/k`, events, 'GET'],
    [(subject) => `POST /admin/principals/${subject}/disable`, '/workflows/a/x/run/stream', 'POST'],
    [
      (subject) => `DELETE /admin/principals/${subject}/roles/watcher`,
      `/executions/${execution_id}?mode=stream`,
      'GET',
    ],
  ]
  for (const [revoke, path, method] of ways) {
    const { subject, key } = await auth.account(['watcher'])
    const stream = await open(method, path, key)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(stream.isOver, path).toBe(false)
    await auth.must(revoke(subject))
    await expect.poll(() => stream.isOver, { timeout: HANG_MS }).toBe(true)
  }
  expect(staying.isOver).toBe(false)
})

test('A4: the stream of a worker ends with the key of its account', async () => {
  const { subject, key } = await auth.account(['worker'])
  const registered = await idleWorker(auth, subject)
  registered.leave()
  await registered.gone
  const stream = await open('GET', `/workers/${subject}/connect`, key)
  await auth.must(`DELETE /admin/principals/${subject}/keys/k`)
  await expect.poll(() => stream.isOver, { timeout: HANG_MS }).toBe(true)
})

test('N071: an execution is read by its own right, by the contract, and not by that of its workflow', async () => {
  const { execution_id: id = '' } = await auth.must('POST /workflows/a/x/run/async', {
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
        const asked = { token: await auth.holding(permissions) }
        const answer = await auth.ask(`GET /executions/${id}${path}`, asked, gateway)
        expect([path, answer.status]).toEqual([path, status])
      }
})

/** Everything that a tenant may try on the objects of another. */
const TRIES = [
  'GET /workflows',
  'GET /workflows?namespace=one',
  'GET /namespaces',
  'GET /workflows/one/secret-plan',
  'GET /workflows/one/secret-plan/versions',
  'GET /workflows/one/secret-plan/versions/1',
  'GET /workflows/one/secret-plan/executions',
  'DELETE /workflows/one/secret-plan',
  'POST /workflows/one/secret-plan/run/async',
  'POST /workflows/one/secret-plan/run/async?version=1',
  'POST /workflows/one/secret-plan/run/stream',
  'GET /executions',
  'GET /executions/ID',
  'GET /executions/ID/events',
  'GET /executions/ID/explain',
  'GET /executions/ID/approvals',
  'GET /executions/ID/approvals/pay',
  'POST /executions/ID/approvals/pay/approve',
  'POST /executions/ID/approvals/pay/reject',
  'POST /executions/ID/authorize/pay {"approved":true}',
  'GET /workflows/one/secret-plan/status/ID',
  'GET /workflows/one/secret-plan/cancel/ID',
  'POST /workflows/one/secret-plan/resume/ID/async',
  'GET /workflows/two/own/status/ID',
  'GET /schedules',
  'GET /schedules/secret-schedule',
  'GET /schedules/secret-schedule/history',
  'PUT /schedules/secret-schedule',
  'POST /schedules/secret-schedule/pause',
  'DELETE /schedules/secret-schedule',
  'GET /approvals',
  'GET /admin/secrets/secret-name',
  'GET /admin/principals/secret-subject',
  'GET /admin/roles/secret-role',
]

test('A6: nothing that one tenant makes changes what another is told', async () => {
  const one = await auth.holding(['workflow:one:*', 'schedule:*', 'execution:*'])
  const two = await auth.holding(['workflow:two:*'])
  await auth.upload(workflowSource('two', 'own'), two)
  let id = 'f'.repeat(32)
  const tell = async () => {
    const told: unknown[] = []
    for (const what of TRIES)
      for (const gateway of [0, 1]) {
        const [door = '', text] = what.replace('ID', id).split(' {')
        const body = text === undefined ? undefined : JSON.parse(`{${text}`)
        const answer = await auth.ask(door, { token: two, body }, gateway)
        told.push([what, answer.status, answer.text.replaceAll(id, 'ID')])
      }
    return told
  }
  const before = await tell()
  await auth.upload(workflowSource('one', 'secret-plan', ', required_permissions=["x:y"]'), one)
  const run = await auth.must('POST /workflows/one/secret-plan/run/async', { body: null })
  id = run.execution_id ?? ''
  await auth.must('POST /schedules', {
    token: one,
    body: {
      name: 'secret-schedule',
      workflow_name: 'one/secret-plan',
      schedule_config: { type: 'interval', interval_seconds: 3_600 },
    },
  })
  await auth.must('POST /admin/secrets', { body: { name: 'secret-name', value: 1 } })
  await auth.account([], 'secret-subject')
  await auth.must('POST /admin/roles', { body: { name: 'secret-role', permissions: [] } })
  expect(await tell()).toEqual(before)
})

/** Routes that only look, with something in place of what they look for. */
const looks = (routes as readonly Route[])
  .filter(({ method, access }) => method === 'get' && !/worker|public/.test(access))
  .map(({ path }) =>
    path
      .replace('{version}', '1')
      .replaceAll(/{execution_id}/g, 'f'.repeat(32))
      .replaceAll(/{\w+}/g, 'x'),
  )

test.each(['catalog', 'executions', 'dispatcher', 'scheduler'] as Service[])(
  'N144: without %s every route answers what it can or 503, and tells nothing',
  async (service) => {
    const [process] = auth.system.of(service)
    await process?.end('SIGKILL')
    const look = async (path: string, gateway: number) => {
      const asked = await auth.ask(`GET ${path}`, { token: auth.admin }, gateway)
      const { status, text, headers } = asked
      expect(status === 503 || status < 500, `${path}: ${status} ${text}`).toBe(true)
      if (status !== 503) return status
      expect(headers['retry-after'], path).toBeDefined()
      expect(text).not.toMatch(/ECONN|UNAVAILABLE|127\.0\.0\.1|grpc/i)
      return status
    }
    const statuses = await Promise.all(
      [0, 1].flatMap((gateway) => looks.map((path) => look(path, gateway))),
    )
    await process?.start()
    expect(statuses).toContain(503)
  },
)

test('A3: while identity cannot be asked, nobody is let in on its word, and nobody is told that a token is wrong', async () => {
  const known = await auth.holding(['workflow:a:*', 'known:once'])
  const fresh = await auth.holding(['workflow:a:*', 'known:never'])
  expect((await auth.ask('GET /workflows/a/x', { token: known })).status).toBe(200)
  const [identity] = auth.system.of('identity')
  await identity?.end('SIGKILL')
  const wrong = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
  const refused = [fresh, wrong, issueToken(auth.idp, 'RS256')].flatMap((token) =>
    [0, 1].map((gateway) => auth.ask('GET /workflows/a/x', { token }, gateway)),
  )
  for (const { status, text } of await Promise.all(refused)) expect(status, text).toBe(503)
  // What it said before holds, since nothing can be revoked without it.
  expect([200, 503]).toContain((await auth.ask('GET /workflows/a/x', { token: known })).status)
  await identity?.start()
  await expect
    .poll(async () => (await auth.ask('GET /workflows/a/x', { token: fresh })).status, {
      timeout: HANG_MS,
    })
    .toBe(200)
  expect((await auth.ask('GET /workflows/a/x', { token: wrong })).status).toBe(401)
})
