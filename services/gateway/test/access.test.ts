import { expect, test } from 'vitest'
import { routes } from '../src/routes/index.ts'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

/** Fills a path with values for its parameters. */
const filled = (path: string) =>
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

/** Credentials that each access accepts here; all others are refused. */
const ADMITTED: Record<string, string[]> = {
  public: CREDENTIALS,
  bootstrap: ['Bearer nonsense', 'Bearer session-of-w1'],
  'own worker': ['Bearer session-of-w1'],
  'may read configs': ['Bearer session-of-w1'],
}

test('authentication on: each route accepts only its own kind of token', async () => {
  const { call } = await startGateway({}, AUTH_ON)
  for (const { method, path, access } of routes) {
    const send = (headers: Record<string, string>) =>
      call(method.toUpperCase(), filled(path), { headers }).then(statusOf)
    const name = `${method} ${path}`
    for (const credential of CREDENTIALS) {
      const status = await send(credential === 'none' ? {} : { authorization: credential })
      const isRefused = !(ADMITTED[access] ?? []).includes(credential)
      expect(status === 401, `${name} with ${credential}`).toBe(isRefused)
    }
  }
})

test('authentication on, no credentials: 401 with the scheme and the reason', async () => {
  const { call } = await startGateway({}, AUTH_ON)
  const cases: [headers: Record<string, string>, detail: string][] = [
    [{}, 'Authorization token required'],
    [{ authorization: 'Bearer nonsense' }, 'Invalid or expired token'],
    [{ authorization: 'bearer x' }, "Unsupported authorization scheme. Use 'Bearer <token>'."],
  ]
  for (const [headers, detail] of cases)
    for (const path of ['/workflows', `/workflows/default/hello/status/${ID}`]) {
      const response = await call('GET', path, { headers })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe('Bearer')
      expect(await response.json()).toEqual({ detail })
    }
})

test('authentication off: every caller is accepted, other schemes than Bearer are refused', async () => {
  const { call } = await startGateway()
  for (const { method, path, access } of routes) {
    if (access === 'bootstrap' || access === 'own worker') continue
    const send = (headers: Record<string, string>) =>
      call(method.toUpperCase(), filled(path), { headers }).then(statusOf)
    const name = `${method} ${path}`
    expect([401, 403], name).not.toContain(await send({}))
    expect([401, 403], name).not.toContain(await send({ authorization: 'Bearer whatever' }))
    const strange = await send({ authorization: 'Basic eDp5' })
    if (access === 'public') expect(strange, name).not.toBe(401)
    else expect(strange, name).toBe(401)
  }
})
