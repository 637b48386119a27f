import { ANONYMOUS_CALLER } from '@windlass/domain/caller'
import type { Principal } from '@windlass/proto/windlass/identity/v1/principals'
import { conflict } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const NO_KEYS = async () => ({ keys: [] })

const principal = (changes: Partial<Principal> = {}) =>
  serviceAccount({ roles: ['viewer'], ...changes })

test('a new principal: created with the default issuer and roles, subject unchanged', async () => {
  const seen: unknown[] = []
  const { json } = await startGateway({
    principals: {
      async create(request, { caller }) {
        seen.push(request, caller)
        return principal()
      },
    },
  })
  const made = await json('POST', '/admin/principals', { type: 'user', subject: 'cafe\u0301' })
  expect([made.status, await made.json()]).toEqual([201, { ...principal(), display_name: null }])
  expect(seen).toMatchObject([
    { type: 'user', subject: 'cafe\u0301', external_issuer: 'svc', roles: [] },
    ANONYMOUS_CALLER,
  ])
})

test('any subject in the path: looked up under the issuer of the query', async () => {
  const seen: unknown[] = []
  const { call } = await startGateway({
    principals: {
      async get(ref) {
        seen.push(ref)
        return principal()
      },
    },
  })
  const subjects = ['ann+1@ex ample.org', 'a/b', '..', 'auth0|1:*', '\u{1f600}']
  for (const subject of subjects)
    await call('GET', `/admin/principals/${encodeURIComponent(subject)}?issuer=https://idp/`)
  // The client's URL parser resolves encoded dot segments.
  const reached = subjects.filter((subject) => subject !== '..')
  const external_issuer = 'https://idp/'
  expect(seen).toEqual(reached.map((subject) => ({ subject, external_issuer })))
})

test('changes of a principal: the responses of the contract', async () => {
  const { call, json } = await startGateway({
    principals: {
      update: async ({ enabled }) => principal({ enabled: enabled ?? true }),
      delete: async () => ({}),
      grantRole: async (request) => request,
      revokeRole: async (request) => request,
    },
    keys: { list: NO_KEYS, revoke: async () => ({}), create: async () => ({ key: 'wk_1.secret' }) },
  })
  const path = '/admin/principals/robot'
  const answers = [
    await json('PATCH', path, { enabled: false, display_name: null }),
    await call('POST', `${path}/enable`),
    await call('POST', `${path}/disable`),
    await json('POST', `${path}/roles`, { role: 'viewer' }),
    await call('DELETE', `${path}/roles/viewer`),
    await call('DELETE', `${path}/keys/ci`),
    await call('DELETE', `${path}?force=true`),
  ]
  expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([
    { ...principal({ enabled: false }), display_name: null },
    { status: 'success', subject: 'robot', enabled: true },
    { status: 'success', subject: 'robot', enabled: false },
    { status: 'success', role: 'viewer' },
    { status: 'success', role: 'viewer' },
    { status: 'success', message: "Key 'ci' revoked" },
    { status: 'success', message: "Principal 'robot' deleted" },
  ])
  const key = await json('POST', `${path}/keys`, { name: 'ci' })
  expect([key.status, key.headers.get('cache-control')]).toEqual([201, 'no-store'])
  expect(await key.json()).toEqual({ key: 'wk_1.secret' })
})

test('the key list: prefixes and times, never keys', async () => {
  const [at, used] = [new Date('2026-01-02T03:04:05Z'), new Date('2026-01-03T00:00:00Z')]
  const stored = { name: 'ci', prefix: 'wk_1', created_at: at }
  const { call } = await startGateway({
    keys: {
      list: async () => ({
        keys: [
          { ...stored, expires_at: undefined, last_used_at: undefined },
          { ...stored, name: 'old', expires_at: at, last_used_at: used },
        ],
      }),
    },
  })
  const shown = { name: 'ci', prefix: 'wk_1', created_at: at.toISOString() }
  expect(await (await call('GET', '/admin/principals/robot/keys')).json()).toEqual([
    { ...shown, expires_at: null, last_used_at: null },
    { ...shown, name: 'old', expires_at: at.toISOString(), last_used_at: used.toISOString() },
  ])
})

test('role operations: the stored role; a taken name gets 409', async () => {
  const role = { name: 'r', permissions: ['a:b'], built_in: false }
  const { call, json } = await startGateway({
    roles: {
      list: async () => ({ roles: [role] }),
      get: async () => role,
      update: async () => role,
      clone: async () => role,
      delete: async () => ({}),
      async create() {
        throw conflict("Role 'r' already exists")
      },
    },
  })
  expect(await (await call('GET', '/admin/roles')).json()).toEqual([role])
  expect(await (await call('GET', '/admin/roles/r')).json()).toEqual(role)
  const patched = await json('PATCH', '/admin/roles/r', { add_permissions: ['a:b'] })
  expect([patched.status, await patched.json()]).toEqual([200, role])
  const cloned = await json('POST', '/admin/roles/x/clone', { new_name: 'r' })
  expect([cloned.status, await cloned.json()]).toEqual([200, role])
  const deleted = await (await call('DELETE', '/admin/roles/r')).json()
  expect(deleted).toEqual({ status: 'success', message: "Role 'r' deleted" })
  expect((await json('POST', '/admin/roles', { name: 'r', permissions: [] })).status).toBe(409)
})

test('a role simulation: permissions granted and taken, in all and per principal', async () => {
  const requests: unknown[] = []
  const holder = (subject: string, other_permissions: string[]) => ({
    principal: principal({ subject }),
    other_permissions,
  })
  const { json } = await startGateway({
    roles: {
      async simulate(request) {
        requests.push(request)
        return {
          role: { name: 'r', permissions: ['a:b', 'c'], built_in: false },
          permissions: request.delete ? [] : ['c', 'd:*'],
          holders: [holder('ann', []), holder('bob', ['a:*', 'd:*']), holder('cid', ['a:b'])],
        }
      },
    },
  })
  const change = { add_permissions: ['d:*'], remove_permissions: ['a:b'] }
  const changed = await json('POST', '/admin/roles/r/simulate', change)
  const identity = { external_issuer: 'svc', type: 'service_account', enabled: true }
  expect([changed.status, await changed.json()]).toEqual([
    200,
    {
      role: 'r',
      permissions: ['c', 'd:*'],
      granted: ['d:*'],
      taken: ['a:b'],
      principals: [
        { subject: 'ann', ...identity, granted: ['d:*'], taken: ['a:b'] },
        { subject: 'cid', ...identity, granted: ['d:*'], taken: [] },
      ],
      holders: 3,
    },
  ])
  const deleted = await (await json('POST', '/admin/roles/r/simulate', { delete: true })).json()
  expect(deleted).toMatchObject({ permissions: null, granted: [], taken: ['a:b', 'c'] })
  expect(requests).toMatchObject([{ name: 'r', ...change, delete: false }, { delete: true }])
})

test('a role simulation without read permission on principals: names none', async () => {
  const account = { principal: principal(), permissions: ['admin:roles:read'] }
  const holders = [{ principal: principal(), other_permissions: [] }]
  const { json } = await startGateway(
    {
      roles: { simulate: async () => ({ role: undefined, permissions: ['a'], holders }) },
      keys: { find: async () => ({ account, expires_at: undefined }) },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const headers = { authorization: `Bearer wk_${'0'.repeat(16)}.${'A'.repeat(43)}` }
  const simulated = await json('POST', '/admin/roles/r/simulate', {}, headers)
  expect(await simulated.json()).toMatchObject({ granted: ['a'], principals: null, holders: 1 })
})

const [P, long] = ['/admin/principals', 'x'.repeat(256)]

/** Requests with the status that answers each. */
const bad: Record<string, [method: string, path: string, body: string, expected: number]> = {
  'a duplicate subject': ['POST', P, '{"type":"user","subject":"a","subject":"b"}', 422],
  'a duplicate member with an escape': [
    'POST',
    P,
    '{"type":"user","subject":"a","r\\u006fles":[],"roles":[]}',
    422,
  ],
  'a duplicate enabled': ['PATCH', `${P}/a`, '{"enabled":false,"enabled":true}', 422],
  'no body': ['POST', P, '', 422],
  'a truncated body': ['POST', P, '{"type"', 422],
  'no type': ['POST', P, '{"subject":"a"}', 422],
  'an unknown type': ['POST', P, '{"type":"robot","subject":"a"}', 422],
  'no subject': ['POST', P, '{"type":"user","roles":[]}', 422],
  'an empty subject': ['POST', P, '{"type":"user","subject":""}', 422],
  'a line break in a subject': ['POST', P, '{"type":"user","subject":"a\\n"}', 422],
  'a lone surrogate in a subject': ['POST', P, '{"type":"user","subject":"\\ud800"}', 422],
  'a long subject': ['POST', P, `{"type":"user","subject":"${long}"}`, 422],
  'roles that are text': ['POST', P, '{"type":"user","subject":"a","roles":"admin"}', 422],
  'a role that is no name': ['POST', P, '{"type":"user","subject":"a","roles":["a:b"]}', 422],
  'enabled as text': ['PATCH', `${P}/a`, '{"enabled":"true"}', 422],
  'enabled as a number': ['PATCH', `${P}/a`, '{"enabled":1}', 422],
  'an empty issuer': ['GET', `${P}/a?issuer=`, '', 422],
  'two issuers': ['GET', `${P}/a?issuer=a&issuer=b`, '', 422],
  'force as a word': ['DELETE', `${P}/a?force=maybe`, '', 422],
  'a list of an unknown type': ['GET', `${P}?type=robot`, '', 422],
  'a subject with a NUL': ['GET', `${P}/a%00`, '', 404],
  'no role': ['POST', `${P}/a/roles`, '{}', 422],
  'a role that is a list': ['POST', `${P}/a/roles`, '{"role":["admin"]}', 422],
  'a role in the path that is no name': ['DELETE', `${P}/a/roles/a%3Ab`, '', 404],
  'a key without a name': ['POST', `${P}/a/keys`, '{}', 422],
  'a key name with a line break': ['POST', `${P}/a/keys`, '{"name":"a\\n"}', 422],
  'negative days': ['POST', `${P}/a/keys`, '{"name":"k","expires_in_days":-1}', 422],
  'a fraction of a day': ['POST', `${P}/a/keys`, '{"name":"k","expires_in_days":0.5}', 422],
  'days above the maximum': ['POST', `${P}/a/keys`, '{"name":"k","expires_in_days":1e9}', 422],
  'days as text': ['POST', `${P}/a/keys`, '{"name":"k","expires_in_days":"1"}', 422],
  'a role without a name': ['POST', '/admin/roles', '{"permissions":[]}', 422],
  'a blank role name': ['POST', '/admin/roles', '{"name":" ","permissions":[]}', 422],
  'a permission that is a number': ['POST', '/admin/roles', '{"name":"r","permissions":[1]}', 422],
  'permissions that are text': ['PATCH', '/admin/roles/r', '{"add_permissions":"*"}', 422],
  'a simulation of deletion and change': [
    'POST',
    '/admin/roles/r/simulate',
    '{"delete":true,"add_permissions":[]}',
    422,
  ],
  'text in a simulation': ['POST', '/admin/roles/r/simulate', '{"add_permissions":"*"}', 422],
  'a deletion as text': ['POST', '/admin/roles/r/simulate', '{"delete":"true"}', 422],
  'a clone without a name': ['POST', '/admin/roles/r/clone', '{}', 422],
  'a clone named ..': ['POST', '/admin/roles/r/clone', '{"new_name":".."}', 422],
}

test.each(Object.entries(bad))('%s: 404 or 422', async (_, [method, path, body, expected]) => {
  const never = async () => {
    throw new Error('got through')
  }
  const { call } = await startGateway({
    principals: { create: never, update: never, get: never, delete: never, list: never },
    keys: { create: never },
    roles: { create: never, update: never, clone: never, simulate: never },
  })
  const response = await call(method, path, { body: body === '' ? undefined : Buffer.from(body) })
  expect(response.status, await response.text()).toBe(expected)
})
