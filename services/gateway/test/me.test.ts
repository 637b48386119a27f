import { VERSION } from '@windlass/runtime/version'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
const LIMITS = {
  max_body_bytes: 16_777_216,
  max_json_depth: 512,
  max_workflow_upload_bytes: 1_048_576,
  max_page: 1_000,
  max_permission_checks: 200,
}

interface CheckAnswer {
  results?: unknown
  detail?: unknown[]
}

/** A gateway whose only key has these permissions. */
async function setup({ permissions = ['b:c', 'a:*'], enabled = true } = {}) {
  const principal = serviceAccount({ roles: ['z', 'a'] })
  const { call, json } = await startGateway(
    {
      keys: { find: async () => ({ account: { principal, permissions }, expires_at: undefined }) },
    },
    { SVC_SECURITY__AUTH__ENABLED: String(enabled) },
  )
  const headers: Record<string, string> = enabled ? { authorization: `Bearer ${KEY}` } : {}
  const me = async (given = headers) => {
    const response = await call('GET', '/me', { headers: given })
    return [response.status, await response.json()]
  }
  const check = async (body: unknown, given = headers): Promise<[number, CheckAnswer]> => {
    const response = await json('POST', '/auth/check', body, given)
    return [response.status, (await response.json()) as CheckAnswer]
  }
  return { me, check }
}

test('GET /me with a key: its principal, rights, and what the server offers', async () => {
  const { me } = await setup()
  expect(await me()).toEqual([
    200,
    {
      subject: 'robot',
      issuer: 'svc',
      roles: ['a', 'z'],
      permissions: ['a:*', 'b:c'],
      server_version: VERSION,
      features: { authentication: true, oidc: false, demo: false },
      limits: LIMITS,
    },
  ])
  expect((await me({}))[0]).toBe(401)
})

test('GET /me while authentication is off: anonymous, with all permissions', async () => {
  const { me } = await setup({ enabled: false })
  expect(await me()).toEqual([
    200,
    {
      subject: 'anonymous',
      issuer: null,
      roles: [],
      permissions: ['*'],
      server_version: VERSION,
      features: { authentication: false, oidc: false, demo: false },
      limits: LIMITS,
    },
  ])
})

test('POST /auth/check: each permission in the order of the request, repeated ones too', async () => {
  const { check } = await setup({ permissions: ['workflow:team:*', 'execution:x:read'] })
  const asked: [permission: string, allowed: boolean][] = [
    ['workflow:team:hello:run', true],
    ['workflow:other:hello:run', false],
    ['workflow:team:hello:run', true],
    ['execution:x:read', true],
    ['execution:*:read', false],
    ['__proto__', false],
  ]
  const results = asked.map(([permission, allowed]) => ({ permission, allowed }))
  expect(await check({ permissions: asked.map(([permission]) => permission) })).toEqual([
    200,
    { results },
  ])
  expect(await check({ permissions: [] })).toEqual([200, { results: [] }])
  expect((await check({ permissions: ['a'] }, {}))[0]).toBe(401)
})

test('POST /auth/check while authentication is off: everything is allowed', async () => {
  const { check } = await setup({ enabled: false })
  const results = [{ permission: 'admin:*', allowed: true }]
  expect(await check({ permissions: ['admin:*'] })).toEqual([200, { results }])
})

test('POST /auth/check with 200 permissions of full length: 200', async () => {
  const { check } = await setup()
  const [status] = await check({ permissions: Array(200).fill('x'.repeat(1_024)) })
  expect(status).toBe(200)
})

const WRONG_CHECKS: [what: string, body: unknown, loc: unknown[]][] = [
  ['without permissions', {}, ['body', 'permissions']],
  ['201 permissions', { permissions: Array(201).fill('a') }, ['body', 'permissions']],
  ['an empty permission', { permissions: ['a', ''] }, ['body', 'permissions', 1]],
  ['a number', { permissions: [1] }, ['body', 'permissions', 0]],
  ['null', { permissions: null }, ['body', 'permissions']],
  ['a control character', { permissions: ['a\u0000'] }, ['body', 'permissions', 0]],
  ['1,025 characters', { permissions: ['x'.repeat(1_025)] }, ['body', 'permissions', 0]],
  ['an unknown member', { permissions: [], object: 'x' }, ['body', 'object']],
  ['a list', ['a'], ['body']],
]

test('POST /auth/check with a wrong body: 422 that names the member', async () => {
  const { check } = await setup()
  for (const [what, body, loc] of WRONG_CHECKS) {
    const [status, answer] = await check(body)
    expect([status, answer.detail?.[0]], what).toEqual([422, expect.objectContaining({ loc })])
  }
})
