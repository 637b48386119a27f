import { invalidateCaches } from '@windlass/runtime/cache-generation'
import { openRedis } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { lateServer } from '@windlass/testkit/oidc-provider'
import { expect, onTestFinished, test } from 'vitest'
import { ID } from './assert-response.ts'
import { browse, OF_CONSOLE, servePerson, startOidcGateway } from './sign-in-fixture.ts'

const CONSOLE = /\/console\/(?:\?|$|executions)/
const CALLBACK = /\/console\/oidc\/callback/

async function setup(options: Parameters<typeof startOidcGateway>[1] = {}) {
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  const server = await lateServer()
  const gateway = await startOidcGateway(server.url, options)
  const person = servePerson(server, `${gateway.url}/console/oidc/callback`)
  const start = `${gateway.url}/console/oidc/start`
  const me = async ({ visit }: ReturnType<typeof browse>) => {
    const response = await visit(`${gateway.url}/me`, OF_CONSOLE)
    return { status: response.status, body: await response.json() }
  }
  const changeRights = () => invalidateCaches(redis, 'auth')
  return { ...gateway, issuer: server.url, person, start, me, changeRights }
}

test('a sign-in at a third-party provider: a session with the rights of the principal until they end', async () => {
  const { url, issuer, start, me, known, changeRights, call } = await setup()
  const options = await call('GET', '/console/sign-in')
  expect(await options.json()).toEqual({
    ...{ required: true, api_key: true },
    oidc: { name: new URL(issuer).host, start: 'console/oidc/start' },
  })
  const browser = browse()
  const place = 'executions?state=running'
  const from = `${start}?return_to=${encodeURIComponent(place)}`
  expect(await browser.follow(from, CONSOLE)).toBe(`${url}/console/${place}`)
  // The cookie of the flow is gone, and that of the session is no token of the issuer.
  const name = `windlass-${new URL(url).port}`
  expect([...browser.jarOf(url)]).toEqual([[name, expect.stringMatching(/^[\w-]{43}$/)]])
  expect(await me(browser)).toMatchObject({
    status: 200,
    body: { subject: 'ann', issuer, roles: ['viewer'], permissions: ['execution:*:read'] },
  })
  expect((await browser.visit(`${url}/executions`, OF_CONSOLE)).status).not.toBe(401)
  expect((await browser.visit(`${url}/admin/roles`, OF_CONSOLE)).status).toBe(403)
  // Without the header of the console the cookie counts for nothing.
  expect((await browser.visit(`${url}/me`)).status).toBe(401)
  known.set('ann', { enabled: false, permissions: [] })
  await changeRights()
  expect((await me(browser)).status).toBe(401)
})

test('the session of an issuer: listed for its principal, and ended by the sign-out', async () => {
  const { url, start, me } = await setup()
  const browser = browse()
  await browser.follow(start, CONSOLE)
  const listed = await browser.visit(`${url}/console/sessions`, OF_CONSOLE)
  expect(await listed.json()).toMatchObject({ sessions: [{ current: true }] })
  const [[name, value] = []] = browser.jarOf(url)
  const cookie = `${name}=${value}`
  await fetch(`${url}/console/session`, { method: 'DELETE', headers: { ...OF_CONSOLE, cookie } })
  expect((await me(browser)).status).toBe(401)
})

test('a callback that is used twice, by another browser, or with another state: no session', async () => {
  const { url, start, me } = await setup()
  const browser = browse()
  const callback = await browser.follow(start, CALLBACK)
  const jar = browser.jarOf(url)
  const [[name = '', flow = ''] = []] = jar
  expect(name).toBe(`windlass-${new URL(url).port}-oidc`)
  const other = browse()
  const signIn = async (by: ReturnType<typeof browse>, at: string) =>
    (await by.visit(at)).headers.get('location')
  // Another browser has no cookie of the flow, or that of a flow of its own.
  expect(await signIn(other, callback)).toBe('../?sign_in=expired')
  const own = await other.follow(start, CALLBACK)
  expect(await signIn(other, callback)).toBe('../?sign_in=expired')
  expect((await me(other)).status).toBe(401)
  // Its own flow, the last one that it began, is not ended by that.
  expect(await signIn(other, own)).toBe('../')
  const changed = callback.replace(/state=[^&]*/, 'state=another')
  expect(await signIn(browser, changed)).toBe('../?sign_in=expired')
  // Injection of a code that was issued to another browser: PKCE and nonce belong to that one.
  const [code = ''] = /code=[^&]*/.exec(await browse().follow(start, CALLBACK)) ?? []
  expect(await signIn(browser, callback.replace(/code=[^&]*/, code))).toBe('../?sign_in=refused')
  jar.set(name, flow)
  const mixedUp = callback.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fevil.example')
  expect(await signIn(browser, mixedUp)).toBe('../?sign_in=refused')
  jar.set(name, flow)
  expect(await signIn(browser, callback)).toBe('../')
  expect((await me(browser)).status).toBe(200)
  jar.set(name, flow)
  expect(await signIn(browser, callback)).toBe('../?sign_in=refused')
})

test('a sign-in over a session whose cookie a browser does not send with the callback: the former one ends', async () => {
  const { url, start, me } = await setup()
  const browser = browse()
  await browser.follow(start, CONSOLE)
  const [former] = browser.jarOf(url)
  await browser.follow(start, CONSOLE)
  expect((await me(browser)).status).toBe(200)
  const cookie = former?.join('=') ?? ''
  const response = await fetch(`${url}/me`, { headers: { ...OF_CONSOLE, cookie } })
  expect(response.status).toBe(401)
})

const HOSTILE = '<img src=x onerror=alert(1)>'

test('an error of the provider, whatever its text: only known words lead back', async () => {
  const { url, start, me } = await setup()
  const browser = browse()
  for (const error of [HOSTILE, 'access_denied', 'server_error&code=c', 'x&error=y']) {
    const location = (await browser.visit(start)).headers.get('location') ?? ''
    const state = new URL(location).searchParams.get('state')
    const answer = `error=${error}&error_description=${HOSTILE}&error_uri=javascript:alert(1)`
    const response = await browser.visit(`${url}/console/oidc/callback?${answer}&state=${state}`)
    expect([response.status, response.headers.get('location'), await response.text()]).toEqual([
      ...[302, '../?sign_in=refused', ''],
    ])
  }
  expect((await me(browser)).status).toBe(401)
})

test('a refusal at the provider: the console learns of it, and there is no session', async () => {
  const { url, start, person, me } = await setup()
  person.subject = undefined
  const browser = browse()
  expect(await browser.follow(start, CONSOLE)).toBe(`${url}/console/?sign_in=refused`)
  expect((await me(browser)).status).toBe(401)
})

test('an unknown subject: no session; a new principal where there are roles for it', async () => {
  const strict = await setup()
  strict.person.subject = 'new'
  const at = await browse().follow(strict.start, CONSOLE)
  expect(at).toBe(`${strict.url}/console/?sign_in=unknown_principal`)
  const provisioned: unknown[] = []
  const open = await setup({
    env: { SVC_SECURITY__AUTH__OIDC__DEFAULT_USER_ROLES: 'viewer' },
    scripts: {
      principals: {
        async provision(request) {
          provisioned.push(request)
          const { subject = '', external_issuer = '' } = request.principal ?? {}
          open.known.set(subject, { enabled: true, permissions: [] })
          const principal = {
            ...{ id: ID, subject, external_issuer, type: 'user', enabled: true },
            ...{ display_name: undefined, roles: ['viewer'] },
          }
          return { principal, permissions: [] }
        },
      },
    },
  })
  open.person.subject = 'new'
  const browser = browse()
  expect(await browser.follow(open.start, CONSOLE)).toBe(`${open.url}/console/`)
  const expected = { principal: { subject: 'new', external_issuer: open.issuer } }
  expect(provisioned).toMatchObject([{ ...expected, display_name: 'Ann', roles: ['viewer'] }])
  expect(await open.me(browser)).toMatchObject({ status: 200, body: { subject: 'new' } })
})

const PLACES = [
  ...['https://evil.example/', '//evil.example', '/%5Cevil.example', '../../docs', 'a//b'],
  // A browser reads these as two dots.
  ...['%2e%2e/docs', '%2E./docs', 'a/.%2e/%2e%2E/docs'],
]

test('a place outside of the console to return to: its first page', async () => {
  const { url, start } = await setup()
  for (const place of PLACES) {
    const from = `${start}?return_to=${encodeURIComponent(place)}`
    expect(await browse().follow(from, CONSOLE), place).toBe(`${url}/console/`)
  }
})

test('a sign-in that another site begins, and one without an issuer: refused', async () => {
  const { start } = await setup()
  const headers = {
    ...{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    'sec-fetch-dest': 'document',
  }
  expect((await browse().visit(start, headers)).status).toBe(403)
  const none = await setup({ env: { SVC_CONSOLE__OIDC__ENABLED: 'false' } })
  expect((await browse().visit(none.start)).status).toBe(404)
  expect(await (await none.call('GET', '/console/sign-in')).json()).toMatchObject({ oidc: null })
})

test('an issuer that does not answer: 503, and the API key still serves', async () => {
  const server = await lateServer()
  const { url, call } = await startOidcGateway(server.url)
  const response = await browse().visit(`${url}/console/oidc/start`)
  expect(response.status).toBe(503)
  expect(await (await call('GET', '/console/sign-in')).json()).toMatchObject({ api_key: true })
})
