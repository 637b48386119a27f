import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { routes } from '../src/routes/index.ts'
import { startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const keyOf = (digit: string) => `Bearer wk_${digit.repeat(16)}.${'A'.repeat(43)}`
const POOR = keyOf('0')
const ADMIN = keyOf('1')
const SESSION = `Bearer ws_${'2'.repeat(16)}.${'A'.repeat(43)}`

const OPEN_TO_SESSIONS = new Set([
  'public',
  'bootstrap',
  'own worker',
  'own execution',
  'may read configs',
])

/** Open to every authenticated caller: what it may not see is answered as absent. */
const OPEN_TO_ALL = new Set(['authenticated', 'sees workers'])

const startWithCallers = () =>
  startGateway(
    {
      identity: {
        async checkSession() {
          return { worker_name: 'w1', session_id: '5'.repeat(32) }
        },
        checkBootstrap: async () => ({ configured: true, valid: false }),
      },
      keys: {
        async find({ prefix }) {
          const permissions = prefix.startsWith('wk_0') ? [] : ['*']
          return { account: { principal: serviceAccount(), permissions }, expires_at: undefined }
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )

/** Fills a path so that one parameter violates its grammar. */
const malformed = (path: string, name: string) =>
  path
    .replace(`{${name}}`, '%00')
    .replace(/{(version|a|b)}/g, '1')
    .replace('{mode}', 'async')
    .replace('{execution_id}', '0'.repeat(32))
    .replaceAll(/{\w+}/g, 'w1')

/** Pages of the console are public and answer 404 to every caller. */
const cases = routes
  .filter(({ access }) => access !== 'public')
  .flatMap((route) =>
    Object.keys(route.params).map((name) => ({ ...route, name, url: malformed(route.path, name) })),
  )

test('a malformed path: 401 without a credential, 403 without the right, then 404', async () => {
  const { call } = await startWithCallers()
  const statusOf = async (method: string, url: string, authorization?: string) => {
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
    const body = method === 'get' ? null : '{}'
    const response = await call(method.toUpperCase(), url, { headers, body })
    await response.body?.cancel()
    return response.status
  }
  for (const { method, url, access, name } of cases) {
    const what = `${method} ${url}`
    expect(await statusOf(method, url), what).toBe(401)
    const isOpen = OPEN_TO_ALL.has(access)
    expect(await statusOf(method, url, POOR), what).toBe(isOpen ? 404 : 403)
    // Only the credential of the worker itself has the right on its routes.
    if (access === 'own worker' || access === 'own execution') continue
    const [status] = name === 'mode' ? [400] : /^(version|a|b)$/.test(name) ? [422] : [404]
    expect(await statusOf(method, url, ADMIN), what).toBe(status)
  }
  expect(cases.length).toBeGreaterThan(60)
})

test('a malformed id on a route of the own worker: 404 with its session token', async () => {
  const { call } = await startWithCallers()
  const authorization = SESSION
  const statusOf = async (path: string) =>
    (await call('POST', path, { headers: { authorization } })).status
  expect(await statusOf('/workers/w1/claim/nope')).toBe(404)
  expect(await statusOf('/workers/w2/claim/nope')).toBe(403)
  const refused = await call('POST', '/workers/%00/pong', { headers: { authorization } })
  expect([refused.status, await refused.json()]).toEqual([403, { detail: 'Permission denied' }])
})

test('a malformed query: refused after authorization', async () => {
  const { call } = await startWithCallers()
  const statusOf = async (authorization: string) =>
    (await call('GET', '/executions?limit=0', { headers: { authorization } })).status
  expect(await statusOf(POOR)).toBe(403)
  expect(await statusOf(ADMIN)).toBe(422)
})

test('the session token of a worker on any other route: 403', async () => {
  const { call } = await startWithCallers()
  for (const { method, path, access } of routes) {
    // A worker renews its registration with its session token.
    if (OPEN_TO_SESSIONS.has(access)) continue
    const url = malformed(path, '')
    const response = await call(method.toUpperCase(), url, { headers: { authorization: SESSION } })
    expect(response.status, `${method} ${path}`).toBe(403)
  }
})

test('an ended session token on any other route: 401', async () => {
  const { call } = await startGateway(
    {
      identity: {
        async checkSession() {
          throw new Fault('unauthenticated', 'Invalid or expired token')
        },
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  const headers = { authorization: SESSION }
  expect((await call('GET', '/workers', { headers })).status).toBe(401)
})

test.each(['bearer', 'BEARER', 'bEaReR'])('the scheme %s: accepted like Bearer', async (scheme) => {
  const { call } = await startWithCallers()
  const statusOf = async (method: string, path: string, token: string) => {
    const authorization = token.replace('Bearer', scheme)
    return (await call(method, path, { headers: { authorization } })).status
  }
  expect(await statusOf('GET', '/executions?limit=0', ADMIN)).toBe(422)
  expect(await statusOf('POST', '/workers/w1/claim/nope', SESSION)).toBe(404)
  expect(await statusOf('POST', '/workers/register', 'Bearer wrong')).toBe(403)
})
