import { expect, test } from 'vitest'
import { routes } from '../src/routes/index.ts'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

/** Replaces every path parameter with a valid value. */
const fillPath = (path: string) =>
  path
    .replace('{mode}', 'async')
    .replace('{version}', '1')
    .replace('{execution_id}', ID)
    .replaceAll(/{\w+}/g, 'w1')

const statusOf = async (response: Response) => {
  await response.body?.cancel()
  return response.status
}

const AUTH_ON = { SVC_SECURITY__AUTH__ENABLED: 'true' }

const CREDENTIALS = ['none', 'Basic eDp5', 'Bearer nonsense', 'Bearer session-of-w1']

/** Credentials that each kind of route admits; other kinds admit none. */
const ADMITTED: Record<string, string[]> = {
  public: CREDENTIALS,
  bootstrap: ['Bearer nonsense', 'Bearer session-of-w1'],
  'own worker': ['Bearer session-of-w1'],
  'own execution': ['Bearer session-of-w1'],
  'may read configs': ['Bearer session-of-w1'],
}

test('authentication on: a route admits only the credentials of its access kind', async () => {
  const { call } = await startGateway({}, AUTH_ON)
  for (const { method, path, access } of routes) {
    const send = (headers: Record<string, string>) =>
      call(method.toUpperCase(), fillPath(path), { headers }).then(statusOf)
    const name = `${method} ${path}`
    for (const credential of CREDENTIALS) {
      const status = await send(credential === 'none' ? {} : { authorization: credential })
      const isRefused = !(ADMITTED[access] ?? []).includes(credential)
      expect(status === 401, `${name} with ${credential}`).toBe(isRefused)
    }
  }
})

test('authentication on: a 401 names the Bearer scheme and the reason', async () => {
  const { call } = await startGateway({}, AUTH_ON)
  const cases: [headers: Record<string, string>, detail: string][] = [
    [{}, 'Authorization token required'],
    [{ authorization: 'Bearer nonsense' }, 'Invalid or expired token'],
    [{ authorization: 'Basic eDp5' }, "Unsupported authorization scheme. Use 'Bearer <token>'."],
  ]
  for (const [headers, detail] of cases)
    for (const path of ['/workflows', `/workflows/default/hello/status/${ID}`]) {
      const response = await call('GET', path, { headers })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(await response.json()).toEqual({ detail })
    }
})

test('authentication off: every caller is admitted, an unsupported scheme gets 401', async () => {
  const { call } = await startGateway()
  for (const { method, path, access } of routes) {
    if (['bootstrap', 'own worker', 'own execution'].includes(access)) continue
    // The console alone may call it.
    if (path === '/console/session') continue
    const send = (headers: Record<string, string>) =>
      call(method.toUpperCase(), fillPath(path), { headers }).then(statusOf)
    const name = `${method} ${path}`
    expect([401, 403], name).not.toContain(await send({}))
    expect([401, 403], name).not.toContain(await send({ authorization: 'Bearer whatever' }))
    const unsupported = await send({ authorization: 'Basic eDp5' })
    if (access === 'public') expect(unsupported, name).not.toBe(401)
    else expect(unsupported, name).toBe(401)
  }
})
