import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { assertResponse } from './assert-response.ts'
import { type AuthSystem, startAuthSystem } from './auth-system.ts'
import { type Case, twoHeaders } from './cases.ts'
import { issueToken } from './forged-tokens.ts'
import { pathCases, permissionCases } from './permission-cases.ts'
import { sendRaw } from './raw-http.ts'
import { REVOCATIONS } from './revocation-cycles.ts'
import { seedCredentials } from './seed.ts'
import { accessCases, credentialCases, oidcCases } from './token-cases.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), {
    singleProcess: false,
    replicas: { gateway: 2 },
    env: { SVC_SERVER__TRUSTED_PROXIES: '1' },
  })
  await seedCredentials(auth)
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

const GATEWAYS = [0, 1]
const ROUNDS = 5
let made = 0

async function assertCase([, asking, expected]: Case): Promise<void> {
  const { what = 'GET /admin/roles', ...given } = await asking(auth)
  const issued = what.replace('IDP', encodeURIComponent(auth.idp.issuer))
  for (const gateway of GATEWAYS) {
    // A request that creates an object succeeds only once.
    if (
      gateway === 1 &&
      (expected === 201 || /(stars|twice)/.test(JSON.stringify(given.body) ?? ''))
    )
      continue
    assertResponse(await auth.request(issued, given, gateway), expected)
  }
}

describe('credentials (5.3)', () => {
  test.each([...credentialCases, ...accessCases])('%s', async (...one) => assertCase(one))
})

describe('tokens of an issuer (5.3)', () => {
  test.each(oidcCases)('%s', async (...one) => assertCase(one))

  test('key fetches: only the issuer is asked, at most twice by each gateway', () => {
    expect(new Set(auth.idp.asked)).toEqual(new Set(['/.well-known/openid-configuration', '/keys']))
    expect(auth.idp.asked.length).toBeLessThanOrEqual(2 * 2 * GATEWAYS.length)
  })
})

describe('permissions (5.4)', () => {
  test.each(permissionCases)('%s', async (...one) => assertCase(one))
})

describe('revocation (5.3)', () => {
  test.each(REVOCATIONS)(
    'N037, N038: $name: refused at both gateways from the next request',
    async (revocation) => {
      for (let round = 0; round < ROUNDS; round++) {
        const { token, revoke, body } = await revocation.make(auth, `table-${made++}`)
        const use = (gateway: number) => auth.request('GET /admin/roles', { token }, gateway)
        for (const gateway of GATEWAYS) assertResponse(await use(gateway), 200)
        await auth.requestOk(revoke, { body })
        for (const answer of await Promise.all(GATEWAYS.map(use)))
          assertResponse(answer, revocation.refusedStatus)
      }
    },
  )
})

const bytes = (...lines: string[]) =>
  `${[...lines, 'Host: localhost', 'Connection: close', '', ''].join('\r\n')}`

describe('paths (5.4, 5.8)', () => {
  test.each(pathCases)(
    '%s: %s: %i for a viewer and for an administrator',
    async (_, path, status) => {
      const viewer = await auth.keyWith(['workflow:*:*:read'])
      for (const gateway of auth.system.gateways)
        for (const token of [viewer, auth.admin]) {
          const line = `GET ${path} HTTP/1.1`
          assertResponse(
            await sendRaw(gateway, bytes(line, `Authorization: Bearer ${token}`)),
            status,
          )
        }
    },
  )

  test('N004: two Authorization headers: 400', async () => {
    const [good, bad] = [`Authorization: Bearer ${auth.admin}`, 'authorization: Bearer x']
    for (const gateway of auth.system.gateways)
      for (const pair of [
        [good, bad],
        [bad, good],
        [good, good],
      ])
        assertResponse(
          await sendRaw(gateway, bytes('GET /admin/roles HTTP/1.1', ...pair)),
          twoHeaders,
        )
  })

  test.each([
    ['X-Original-URL: /admin/roles'],
    ['X-Rewrite-URL: /admin/roles'],
    ['X-HTTP-Method-Override: DELETE'],
    ['X-Forwarded-Prefix: /admin'],
  ])('N067, N069: %s: ignored', async (header) => {
    const gateway = auth.system.gateways[0] ?? ''
    const authorization = `Authorization: Bearer ${auth.admin}`
    const line = 'GET /workflows/a/y HTTP/1.1'
    const { status, body } = await sendRaw(gateway, bytes(line, authorization, header))
    expect([status, body]).toEqual([200, expect.objectContaining({ namespace: 'a', name: 'y' })])
  })

  test('N068: cancel with HEAD, OPTIONS or POST: nothing is cancelled', async () => {
    const { execution_id = '' } = await auth.requestOk('POST /workflows/a/x/run/async', {
      body: null,
    })
    const path = `/workflows/a/x/cancel/${execution_id}`
    expect((await auth.request(`HEAD ${path}`, { token: auth.admin })).status).toBe(405)
    expect((await auth.request(`OPTIONS ${path}`, { token: auth.admin })).status).toBe(204)
    expect((await auth.request(`POST ${path}`, { token: auth.admin })).status).toBe(405)
    expect(await auth.requestOk(`GET /workflows/a/x/status/${execution_id}`)).toMatchObject({
      state: 'SCHEDULED',
    })
    for (const other of ['a/y', 'b/x'])
      for (const what of ['GET', 'GET', 'POST'].map(
        (method, i) =>
          `${method} /workflows/${other}/${['status', 'cancel', 'resume'][i]}/${execution_id}${i === 2 ? '/async' : ''}`,
      ))
        expect((await auth.request(what, { token: auth.admin })).status, `N070 ${what}`).toBe(404)
  })

  test.each(['%25', '_', '*', '%27--', 'a%25', 'A'])(
    'N075: namespace %s: matched literally, not as a pattern',
    async (namespace) => {
      const { status, body } = await auth.request(`GET /workflows?namespace=${namespace}`, {
        token: auth.admin,
      })
      expect([status, body]).toEqual([200, []])
    },
  )

  test('N136, N137: request of a foreign web page: refused', async () => {
    const headers = { origin: 'https://evil.example', cookie: `session=${auth.admin}` }
    assertResponse(await auth.request('GET /workflows/a/x/cancel/0', { headers }), 403)
    const preflight = await auth.request('OPTIONS /workflows', { headers })
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([
      403,
      undefined,
    ])
    const cookie = { cookie: headers.cookie }
    assertResponse(await auth.request('GET /workflows/a/x/cancel/0', { headers: cookie }), 401)
    for (const method of ['TRACE', 'PROPFIND'])
      expect([404, 405]).toContain(
        (await auth.request(`${method} /workflows`, { headers: cookie })).status,
      )
  })

  test('N138: control characters in a request: each log line is valid JSON of bounded length', async () => {
    const gateway = auth.system.gateways[0] ?? ''
    const agent = 'User-Agent: \u001b[31m%s","level":"fatal'
    await sendRaw(gateway, bytes(`GET /%22%0a%1b[31m${'x'.repeat(9_000)} HTTP/1.1`, agent))
    const [process] = auth.system.of('gateway')
    const lines = process?.output.trim().split('\n').slice(1) ?? []
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) {
      expect(() => JSON.parse(line), line).not.toThrow()
      expect(line.length).toBeLessThan(8_192)
    }
  })
})

test('N050: test-token names the principal, and is limited to ten a minute over all gateways', async () => {
  const headers = { 'x-forwarded-for': `2001:db8:${randomInt(65_536).toString(16)}::1` }
  let gateway = 0
  const testToken = (body: unknown) =>
    auth.request('POST /auth/test-token', { token: auth.admin, body, headers }, gateway++ % 2)
  const root = { valid: true, subject: 'root', roles: ['admin'], permissions: ['*'] }
  const ann = { valid: true, subject: 'ann', roles: ['reader'], permissions: ['admin:roles:read'] }
  const missing = { valid: false, error: "Missing 'token' in request body" }
  const wrong = { valid: false, error: 'OIDC token validation failed' }
  for (const [body, expected] of [
    [{ token: auth.admin }, root],
    [{ token: issueToken(auth.idp, 'RS256') }, ann],
    [{ token: null }, missing],
    [{}, missing],
    [{ token: 'opaque' }, wrong],
  ])
    expect((await testToken(body)).body).toEqual(expected)
  for (const body of [[], 'x', null]) expect((await testToken(body)).status).toBe(422)
  const rest: number[] = []
  for (let i = 0; i < 7; i++) rest.push((await testToken({ token: 'x' })).status)
  expect(rest).toEqual([200, 200, 200, 200, 200, 429, 429])
  const refused = await testToken({ token: 'x' })
  assertResponse(refused, [429, { detail: 'Rate limit exceeded. Try again later.' }])
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
})
