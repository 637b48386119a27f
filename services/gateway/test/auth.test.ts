import { randomInt } from 'node:crypto'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { startGateway, workflow } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
const POOR = `wk_${'1'.repeat(16)}.${'A'.repeat(43)}`
const WRONG = `wk_${'2'.repeat(16)}.${'A'.repeat(43)}`

const PLAIN = ['workflow:default:plain:read', 'workflow:default:plain:run']
const FULL = [
  'workflow:team:full:read',
  'workflow:team:full:run',
  'payroll:run',
  'workflow:team:full:task:t:execute',
  'admin:secrets:read',
]
const metadata = {
  secret_requests: ['S'],
  required_permissions: ['payroll:run'],
  task_names: ['t'],
}
const CATALOG = [
  workflow({ name: 'plain' }),
  workflow({ namespace: 'team', name: 'full', metadata_json: JSON.stringify(metadata) }),
]

async function setup({ enabled = true, workflows = CATALOG } = {}) {
  const principal = serviceAccount({ roles: ['z', 'a'] })
  const { json, call } = await startGateway(
    {
      keys: {
        async find({ prefix }) {
          if (prefix === WRONG.slice(0, 19))
            throw new Fault('unauthenticated', 'Invalid or expired token')
          const permissions = prefix === KEY.slice(0, 19) ? ['b', 'admin:*'] : ['admin:roles:read']
          return { account: { principal, permissions }, expires_at: undefined }
        },
      },
      catalog: {
        list: async () => ({ workflows }),
        async resolve({ namespace, name }) {
          const found = workflows.find((row) => row.namespace === namespace && row.name === name)
          if (!found) throw new Fault('not_found', 'no such workflow')
          return found
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: String(enabled), SVC_SERVER__TRUSTED_PROXIES: '1' },
  )
  const address = `fd00:${randomInt(65_536).toString(16)}:${randomInt(65_536).toString(16)}::1`
  const headers = (key: string) => ({ authorization: `Bearer ${key}`, 'x-forwarded-for': address })
  const testToken = async (body: unknown, key = KEY) => {
    const response = await json('POST', '/auth/test-token', body, headers(key))
    return [response.status, await response.json()]
  }
  const getPermissions = async (search = '', key = POOR) => {
    const response = await call('GET', `/auth/permissions${search}`, { headers: headers(key) })
    return [response.status, await response.json()]
  }
  return { testToken, getPermissions }
}

test('GET /auth/permissions, any authenticated caller: the permissions a workflow needs', async () => {
  const { getPermissions } = await setup()
  expect(await getPermissions('?workflow=plain')).toEqual([200, PLAIN])
  expect(await getPermissions('?workflow=team/full')).toEqual([200, FULL])
  expect(await getPermissions()).toEqual([200, { 'default/plain': PLAIN, 'team/full': FULL }])
  expect((await getPermissions('', WRONG))[0]).toBe(401)
})

test.each([
  ['missing', 404],
  ['a/b/c/d', 422],
  ['', 422],
  ['UPPER/x', 422],
  ['default/', 422],
  ['a%00', 422],
])('GET /auth/permissions of the workflow %j: %i', async (ref, expected) => {
  const { getPermissions } = await setup()
  expect((await getPermissions(`?workflow=${ref}`))[0]).toBe(expected)
})

test('POST /auth/test-token: the subject, roles and permissions of the token, or the error', async () => {
  const { testToken } = await setup()
  expect(await testToken({ token: KEY })).toEqual([
    200,
    { valid: true, subject: 'robot', roles: ['a', 'z'], permissions: ['admin:*', 'b'] },
  ])
  const invalid = [200, { valid: false, error: 'Invalid or expired token' }]
  expect(await testToken({ token: WRONG })).toEqual(invalid)
  expect(await testToken({ token: 'x' })).toEqual(invalid)
  const missing = [200, { valid: false, error: "Missing 'token' in request body" }]
  expect(await testToken({})).toEqual(missing)
  expect(await testToken({ token: '' })).toEqual(missing)
  expect((await testToken({ token: 1 }))[0]).toBe(422)
})

test('POST /auth/test-token without admin permission: 403', async () => {
  const { testToken } = await setup()
  expect(await testToken({ token: KEY }, POOR)).toEqual([
    403,
    { detail: "Permission denied: requires 'admin:*'" },
  ])
  expect((await testToken({ token: KEY }, WRONG))[0]).toBe(401)
})

test('POST /auth/test-token eleven times in a minute: the last gets 429', async () => {
  const { testToken } = await setup()
  const statuses: unknown[] = []
  for (let i = 0; i < 11; i++) statuses.push((await testToken({ token: KEY }))[0])
  expect(statuses).toEqual([...Array(10).fill(200), 429])
})

test('authentication off: any token is valid and anonymous', async () => {
  const { testToken } = await setup({ enabled: false })
  expect(await testToken({ token: 'whatever' })).toEqual([
    200,
    { valid: true, subject: 'anonymous', roles: [], permissions: [] },
  ])
})

test('GET /auth/permissions with workflows that all run each other: they are left out, and one is refused', async () => {
  const nested_workflows = Array.from({ length: 300 }, (_, i) => ['team', `w${i}`])
  const metadata_json = JSON.stringify({ nested_workflows })
  const together = nested_workflows.map(([namespace, name]) =>
    workflow({ namespace: namespace as string, name: name as string, metadata_json }),
  )
  const { getPermissions } = await setup({ workflows: [...CATALOG, ...together] })
  expect(await getPermissions()).toEqual([200, { 'default/plain': PLAIN, 'team/full': FULL }])
  const [status, body] = await getPermissions('?workflow=team/w7')
  expect(status).toBe(400)
  expect(body).toEqual({ detail: expect.stringContaining("'team/w7' has") })
})
