import type { AuditDraft } from '@windlass/proto/windlass/identity/v1/audit'
import type { Call } from '@windlass/rpc/call'
import { conflict, type Fault, unavailable } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { routes } from '../src/routes/index.ts'
import { draftOf, startGateway, workflow } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const PREFIX = `wk_${'0'.repeat(16)}`
const KEY = `${PREFIX}.${'A'.repeat(43)}`
const CANARY = 'canary-5d1e'

const UNAUDITED_ROUTES = [
  // These only read.
  'post /auth/test-token',
  'post /admin/configs/batch',
  'post /admin/roles/{name}/simulate',
  'post /auth/check',
  // Of the caller alone: sessions, opened with rights whose changes are audited, and views; a demonstration.
  ...['post /console/session', 'delete /console/session', 'delete /console/sessions/{session_id}'],
  ...['put /me/views/{view_name}', 'delete /me/views/{view_name}', 'post /demo/crash-worker'],
]

test('every route that changes something: audited, or listed as an exception', () => {
  const unaudited = routes
    .filter(({ method, path }) => method !== 'get' || path.includes('/cancel/'))
    .filter(({ access }) => access !== 'own worker' && access !== 'own execution')
    .filter(({ audit }) => !audit)
    .map(({ method, path }) => `${method} ${path}`)
  expect(unaudited.sort()).toEqual(UNAUDITED_ROUTES.sort())
})

/** Starts a gateway with authentication on and an in-memory audit log; KEY has `permissions`. */
async function setup(permissions: string[] = ['*']) {
  const drafts: AuditDraft[] = []
  const seen: unknown[] = []
  const state = {
    away: false as boolean | ((draft: AuditDraft) => boolean),
    owner: undefined as Fault | undefined,
  }
  const isAway = (draft: AuditDraft) =>
    typeof state.away === 'function' ? state.away(draft) : state.away
  /** Handles a call to the service that owns the changed object. */
  const handleOwnerCall = async (request: object, { caller, requestId }: Call) => {
    seen.push({ ...request, by: { ...caller, request_id: requestId } })
    if (state.owner) throw state.owner
    return { deleted: 1 } as never
  }
  const principal = serviceAccount()
  const made = await startGateway(
    {
      audit: {
        async record({ records }) {
          const fresh = records.map(draftOf)
          if (fresh.some(isAway)) throw unavailable('away')
          drafts.push(...fresh)
          return { seqs: fresh.map((_, i) => drafts.length - fresh.length + i + 1) }
        },
      },
      keys: { find: async () => ({ account: { principal, permissions }, expires_at: undefined }) },
      catalog: {
        delete: handleOwnerCall,
        analyze: async () => ({ workflows: [workflow(), workflow({ name: 'other' })] }),
        register: async () => ({ workflows: [workflow()] }),
      },
      roles: { delete: handleOwnerCall },
      scheduler: { delete: handleOwnerCall, reconcile: async () => ({}) as never },
      secrets: {
        put: handleOwnerCall,
        get: async ({ name }) => ({ name, value_json: `"${CANARY}"` }),
        getMany: async ({ names }) => ({
          entries: names.map((name) => ({ name, value_json: `"${CANARY}"` })),
        }),
      },
      dispatcher: {
        async register() {
          throw conflict('it has a live stream')
        },
      },
      identity: {
        checkBootstrap: async ({ token }) => ({ configured: true, valid: token === 'bootstrap' }),
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const send = async (method: string, path: string, body?: unknown, token = KEY) => {
    const headers = { authorization: `Bearer ${token}`, 'x-request-id': 'r-1' }
    const response =
      body === undefined
        ? await made.call(method, path, { headers })
        : await made.json(method, path, body, headers)
    return { status: response.status, text: await response.text() }
  }
  const lines = () => drafts.map(({ action, object, outcome }) => [action, object, outcome])
  return { ...made, drafts, lines, send, seen, state }
}

const by = { subject: 'robot', issuer: 'svc', key_prefix: PREFIX, request_id: 'r-1' }

test('a change in another service: entries before and after it', async () => {
  const { drafts, send, state } = await setup()
  expect((await send('DELETE', '/workflows/team/x')).status).toBe(200)
  const entry = { by, action: 'workflow.delete', object: 'workflow:team/x' }
  expect(drafts).toEqual([
    { ...entry, outcome: 'begun', detail_json: '{"client_address":"127.0.0.1"}' },
    { ...entry, outcome: 'done', detail_json: '{"client_address":"127.0.0.1","begun":1}' },
  ])
  state.owner = conflict('no')
  await send('DELETE', '/schedules/daily')
  state.owner = unavailable('away')
  await send('DELETE', '/schedules/daily')
  expect(drafts.slice(2).map(({ outcome, detail_json }) => [outcome, detail_json])).toEqual([
    ['begun', '{"client_address":"127.0.0.1"}'],
    ['failed', '{"client_address":"127.0.0.1","begun":3,"reason":"conflict"}'],
    ['begun', '{"client_address":"127.0.0.1"}'],
    ['unknown', '{"client_address":"127.0.0.1","begun":5,"reason":"unavailable"}'],
  ])
})

test('an upload: one pair of entries per workflow; a dry run: none', async () => {
  const { call, lines } = await setup()
  const form = new FormData()
  form.append('file', new Blob(['x']), 'x.py')
  const headers = { authorization: `Bearer ${KEY}` }
  const dryRun = await call('POST', '/workflows?dry_run=true', { body: form, headers })
  expect([dryRun.status, lines()]).toEqual([200, []])
  expect((await call('POST', '/workflows', { body: form, headers })).status).toBe(200)
  expect(lines()).toEqual([
    ['workflow.upload', 'workflow:default/hello', 'begun'],
    ['workflow.upload', 'workflow:default/other', 'begun'],
    ['workflow.upload', 'workflow:default/hello', 'done'],
    ['workflow.upload', 'workflow:default/other', 'done'],
  ])
})

test('a change in identity: identity records it, the gateway only passes the caller', async () => {
  const { drafts, seen, send, state } = await setup()
  await send('POST', '/admin/secrets', { name: 'db', value: CANARY })
  await send('DELETE', '/admin/roles/r')
  expect(drafts).toEqual([])
  expect(seen).toMatchObject([{ by }, { name: 'r', by }])
  state.owner = conflict(`what was sent: ${CANARY}`)
  await send('POST', '/admin/secrets', { name: 'db', value: CANARY })
  expect(drafts).toEqual([
    {
      by,
      action: 'secret.put',
      object: 'secret:db',
      outcome: 'failed',
      detail_json: '{"client_address":"127.0.0.1","reason":"conflict"}',
    },
  ])
})

test('refused requests: recorded with the reason and no part of the body', async () => {
  const { drafts, send, seen } = await setup(['admin:secrets:manage'])
  await send('DELETE', '/workflows/team/x')
  await send('POST', '/admin/roles', { name: 'r', permissions: [CANARY] })
  await send('POST', '/admin/secrets', { name: 'a/b', value: CANARY })
  await send('GET', '/admin/secrets/db')
  expect(drafts.map(({ by: _, ...draft }) => draft)).toEqual([
    {
      action: 'workflow.delete',
      object: 'workflow:team/x',
      outcome: 'denied',
      detail_json: `{"client_address":"127.0.0.1","reason":"Permission denied: requires 'workflow:team:*:register'"}`,
    },
    {
      action: 'role.create',
      object: 'role',
      outcome: 'denied',
      detail_json: `{"client_address":"127.0.0.1","reason":"Permission denied: requires 'admin:roles:manage'"}`,
    },
    {
      action: 'secret.put',
      object: 'secret',
      outcome: 'failed',
      detail_json: '{"client_address":"127.0.0.1","reason":"unprocessable"}',
    },
    {
      action: 'secret.read',
      object: 'secret:db',
      outcome: 'denied',
      detail_json: `{"client_address":"127.0.0.1","reason":"Permission denied: requires 'admin:secrets:read'"}`,
    },
  ])
  expect(seen).toEqual([])
})

test('a flood of denied requests: five entries, then one summary when the gateway stops', async () => {
  const { drafts, send, stop } = await setup(['admin:secrets:manage'])
  for (let i = 0; i < 100; i++) await send('DELETE', `/workflows/team/x${i}`)
  expect(drafts).toHaveLength(5)
  await stop()
  expect(drafts).toHaveLength(6)
  expect(JSON.parse(drafts.at(-1)?.detail_json ?? '')).toMatchObject({ repeated: 95 })
})

test('an unauthenticated request: no entry', async () => {
  const { drafts, send } = await setup()
  const registration = { name: 'w', packages: [] }
  expect((await send('DELETE', '/admin/roles/r', undefined, 'x')).status).toBe(401)
  expect((await send('POST', '/workers/register', registration, 'wrong')).status).toBe(403)
  expect(drafts).toEqual([])
  expect((await send('POST', '/workers/register', registration, 'bootstrap')).status).toBe(422)
  expect(drafts).toMatchObject([
    { by: { subject: 'bootstrap-token' }, action: 'worker.register', outcome: 'failed' },
  ])
})

test('reading a secret: recorded before it is answered, 503 if that fails', async () => {
  const { lines, send, state } = await setup()
  expect((await send('GET', '/admin/secrets/db')).text).toContain(CANARY)
  expect((await send('POST', '/admin/secrets/batch', ['a', 'b'])).text).toContain(CANARY)
  expect(lines()).toEqual([
    ['secret.read', 'secret:db', 'done'],
    ['secret.read', 'secret:a', 'done'],
    ['secret.read', 'secret:b', 'done'],
  ])
  state.away = true
  const refused = await send('GET', '/admin/secrets/db')
  expect(refused.status).toBe(503)
  expect(refused.text).not.toContain(CANARY)
})

test('the audit log is unavailable: 503, the change does not begin', async () => {
  const { lines, send, seen, state } = await setup()
  state.away = true
  expect((await send('DELETE', '/workflows/team/x')).status).toBe(503)
  expect(seen).toEqual([])
  state.away = false
  await send('DELETE', '/schedules/daily')
  expect(lines()).toEqual([
    ['schedule.delete', 'schedule:daily', 'begun'],
    ['schedule.delete', 'schedule:daily', 'done'],
  ])
})

const HANG_MS = 60_000

test('the audit log fails after the change: 200, recorded when it is back', async () => {
  const { lines, send, state } = await setup()
  state.away = ({ outcome }) => outcome !== 'begun'
  expect((await send('DELETE', '/workflows/team/x')).status).toBe(200)
  expect(lines()).toEqual([['workflow.delete', 'workflow:team/x', 'begun']])
  state.away = false
  await expect
    .poll(lines, { timeout: HANG_MS })
    .toContainEqual(['workflow.delete', 'workflow:team/x', 'done'])
})
