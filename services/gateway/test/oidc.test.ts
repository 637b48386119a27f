import { notFound } from '@windlass/runtime/faults'
import { startOidcIssuer } from '@windlass/testkit/issuer'
import { startService } from '@windlass/testkit/service'
import { expect, test } from 'vitest'
import { start } from '../src/server.ts'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

const OIDC = 'SVC_SECURITY__AUTH__OIDC__'
const AUTH = { SVC_SECURITY__AUTH__ENABLED: 'true', [`${OIDC}ENABLED`]: 'true' }

const REQUIRE_ACCESS = { [`${OIDC}REQUIRE_ACCESS_TOKEN`]: 'true' }
const MAX_AGE = { [`${OIDC}MAX_TOKEN_AGE`]: '600' }
const CLAIMS = { [`${OIDC}REQUIRED_CLAIMS`]: 'email_verified=true, tenant' }
const GROUP = { [`${OIDC}REQUIRED_CLAIMS`]: 'groups=ops' }
const PARTY = { [`${OIDC}AUTHORIZED_PARTIES`]: 'app' }
const ago = (seconds: number) => Math.floor(Date.now() / 1_000) - seconds

/** Starts a gateway with two principals of the issuer: `ann`, and `bob`, which is disabled. */
async function setup(env: Record<string, string> = {}) {
  const idp = await startOidcIssuer()
  const provisioned: unknown[] = []
  const account = (subject: string, roles: string[] = []) => ({
    principal: {
      id: ID,
      subject,
      type: 'user',
      external_issuer: idp.issuer,
      display_name: undefined,
      enabled: subject !== 'bob',
      roles,
    },
    permissions: ['admin:roles:read'],
  })
  const { call } = await startGateway(
    {
      principals: {
        async resolve({ subject, external_issuer }) {
          if (external_issuer !== idp.issuer || !['ann', 'bob'].includes(subject))
            throw notFound('Principal', subject)
          return account(subject)
        },
        async provision(request) {
          provisioned.push(request)
          return account(request.principal?.subject ?? '', request.roles)
        },
      },
      roles: { list: async () => ({ roles: [] }) },
    },
    { ...AUTH, [`${OIDC}ISSUER`]: idp.issuer, [`${OIDC}AUDIENCE`]: 'windlass', ...env },
  )
  const send = async (token: string, path = '/admin/roles') => {
    const response = await call('GET', path, { headers: { authorization: `Bearer ${token}` } })
    return [response.status, await response.json()]
  }
  return { ...idp, send, provisioned }
}

const FAILED = [401, { detail: 'OIDC token validation failed' }]

test('a token of the issuer: the principal of its subject; its claims grant nothing', async () => {
  const { send, token, asked } = await setup()
  const claims = { sub: 'ann', aud: ['other', 'windlass'], roles: ['admin'], permissions: ['*'] }
  expect(await send(token(claims))).toEqual([200, []])
  expect((await send(token(claims), '/admin/secrets'))[0]).toBe(403)
  expect(asked).toEqual(['/.well-known/openid-configuration', '/keys'])
})

test('an unknown or disabled principal: 401', async () => {
  const { send, token } = await setup()
  const unknown = [401, { detail: 'Principal not provisioned' }]
  expect(await send(token({ sub: 'eve' }))).toEqual(unknown)
  expect(await send(token({ sub: 'bob' }))).toEqual([401, { detail: 'Invalid or expired token' }])
})

test('an invalid token of any kind: 401', async () => {
  const { send, token, issuer, nowS } = await setup()
  const ann = { sub: 'ann' }
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  const cases: Record<string, string> = {
    opaque: 'opaque-token-without-dots',
    'dots alone': '..',
    forged: token(ann, { isForged: true }),
    'of an unknown key': token(ann, { header: { kid: 'k2' } }),
    HS256: token(ann, { header: { alg: 'HS256' } }),
    unsigned: `${none}.${token(ann).split('.')[1]}.`,
    expired: token({ ...ann, exp: nowS() - 40 }),
    'not valid yet': token({ ...ann, nbf: nowS() + 100 }),
    'without expiry': token({ ...ann, exp: undefined }),
    'without subject': token({}),
    'with a number for a subject': token({ sub: 1 }),
    'with a line break in its subject': token({ sub: 'ann\n' }),
    'for others': token({ ...ann, aud: 'other' }),
    'without audience': token({ ...ann, aud: undefined }),
    'of an issuer without the slash': token({ ...ann, iss: issuer.slice(0, -1) }),
    'of an issuer with two': token({ ...ann, iss: `${issuer}/` }),
  }
  for (const [what, wrong] of Object.entries(cases)) expect(await send(wrong), what).toEqual(FAILED)
  expect((await send(token({ ...ann, exp: nowS() - 10 })))[0]).toBe(200)
})

const JWT = { typ: 'JWT' }
const LOGOUT = { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }

/** Settings, then members of the token of `ann`, its header, and the expected status. */
const tokenRules: [string, Record<string, string>, object, object, number][] = [
  ['no type', {}, {}, {}, 200],
  ['type JWT', {}, {}, JWT, 200],
  ['type at+jwt', {}, {}, { typ: 'at+jwt' }, 200],
  ['type application/AT+JWT', {}, {}, { typ: 'application/AT+JWT' }, 200],
  ['type logout+jwt', {}, {}, { typ: 'logout+jwt' }, 401],
  ['type secevent+jwt', {}, {}, { typ: 'secevent+jwt' }, 401],
  ['type id+jwt', {}, {}, { typ: 'id+jwt' }, 401],
  ['type dpop+jwt', {}, {}, { typ: 'dpop+jwt' }, 401],
  ['an empty type', {}, {}, { typ: '' }, 401],
  ['a logout token without a type', {}, LOGOUT, JWT, 401],
  ['a refresh token', {}, { typ: 'Refresh' }, JWT, 401],
  ['an ID token', {}, { nonce: 'n', at_hash: 'h' }, JWT, 200],
  ['an ID token, access required', REQUIRE_ACCESS, { nonce: 'n', scope: 'x' }, JWT, 401],
  ['no access token, access required', REQUIRE_ACCESS, {}, JWT, 401],
  ['a scope, access required', REQUIRE_ACCESS, { scope: 'api' }, JWT, 200],
  ['type at+jwt, access required', REQUIRE_ACCESS, {}, { typ: 'at+jwt' }, 200],
  ['a token of 20 minutes, age 600', MAX_AGE, { iat: ago(1_200) }, JWT, 401],
  ['no time of issue, age 600', MAX_AGE, { iat: undefined }, JWT, 401],
  ['a new token, age 600', MAX_AGE, { iat: ago(60) }, JWT, 200],
  ['a missing claim', CLAIMS, { email_verified: true }, JWT, 401],
  ['another value', CLAIMS, { email_verified: false, tenant: 'a' }, JWT, 401],
  ['all claims', CLAIMS, { email_verified: true, tenant: 'a' }, JWT, 200],
  ['a list that contains the value', GROUP, { groups: ['x', 'ops'] }, JWT, 200],
  ['a list without the value', GROUP, { groups: ['opsx'] }, JWT, 401],
  ['another party', PARTY, { azp: 'other' }, JWT, 401],
  ['no party', PARTY, {}, JWT, 401],
  ['the party', PARTY, { azp: 'app' }, JWT, 200],
  ['the client', PARTY, { client_id: 'app' }, JWT, 200],
]

test.each(tokenRules)(
  'token with %s: accepted or refused',
  async (...[, env, claims, header, status]) => {
    const { send, token } = await setup(env)
    expect((await send(token({ sub: 'ann', ...claims }, { header })))[0]).toBe(status)
  },
)

test('unknown key ids and opaque tokens: no further requests to the issuer', async () => {
  const { send, token, asked } = await setup()
  await send(token({ sub: 'ann' }))
  for (let i = 0; i < 20; i++) {
    await send(token({ sub: 'ann' }, { header: { kid: `k${i}x` } }))
    await send(`opaque-${i}`)
  }
  expect(asked).toHaveLength(2)
})

test('the issuer is unreachable: 503 for its tokens, 401 for an opaque one', async () => {
  const { send, token, stop } = await setup()
  await stop()
  expect((await send(token({ sub: 'ann' })))[0]).toBe(503)
  expect(await send('opaque')).toEqual(FAILED)
})

test('default roles are set: an unknown subject is provisioned, with its azp', async () => {
  const { send, token, provisioned, issuer } = await setup({
    [`${OIDC}DEFAULT_USER_ROLES`]: 'viewer',
  })
  expect((await send(token({ sub: 'eve', name: 'Eve', azp: 'app' })))[0]).toBe(200)
  expect(provisioned).toEqual([
    {
      principal: { subject: 'eve', external_issuer: issuer },
      display_name: 'Eve',
      roles: ['viewer'],
      metadata_json: '{"azp":"app"}',
    },
  ])
})

test.each([
  ['', 'windlass'],
  ['http://idp.example/', 'windlass'],
  ['https://idp.example/', ''],
])('the issuer %j and the audience %j: the gateway does not start', async (issuer, audience) => {
  const starting = startService(start, {
    ...AUTH,
    SVC_SECURITY__EXECUTION_TOKEN_SECRET: '4f1c9a07d2e8b6533c0a7e91f5d8426b',
    SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: 'b94e02d7a6153f8c0de7419b6a25c8f3',
    [`${OIDC}ISSUER`]: issuer,
    [`${OIDC}AUDIENCE`]: audience,
  })
  await expect(starting).rejects.toThrow(/oidc|https/)
})
