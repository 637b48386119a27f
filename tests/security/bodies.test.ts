import { afterAll, beforeAll, expect, test } from 'vitest'
import { assertResponse } from './assert-response.ts'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { bodyCases, headerCases, payloadCases, pollutionCases } from './body-cases.ts'
import { sendRaw } from './raw-http.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem
const GATEWAYS = [0, 1]

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), { replicas: { gateway: 2 } })
  const typed = workflowSource('a', 'typed').replace('ExecutionContext)', 'ExecutionContext[int])')
  for (const source of [workflowSource('a', 'x'), typed])
    expect((await auth.upload(source)).status).toBe(200)
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

test.each(bodyCases)('%s', async (_, asking, expected) => {
  const { what = '', ...given } = await asking(auth)
  for (const gateway of GATEWAYS) assertResponse(await auth.request(what, given, gateway), expected)
})

test.each(payloadCases)('%s: input %.40s is returned byte for byte', async (_, raw) => {
  for (const gateway of GATEWAYS) {
    const given = { token: auth.admin, raw }
    const answer = await auth.request('POST /workflows/a/x/run/async', given, gateway)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.text).toContain(`"input":${raw},`)
  }
})

test.each(pollutionCases)('%s', async (_, asking) => {
  const { what = '', ...given } = await asking(auth)
  const { status, text } = await auth.request(what, given)
  expect([200, 201, 422], text).toContain(status)
  for (const gateway of GATEWAYS) {
    const root = await auth.request('GET /admin/principals/root', { token: auth.admin }, gateway)
    expect(root.body).toMatchObject({ subject: 'root', enabled: true, roles: ['admin'] })
    const absent = await auth.request('POST /admin/roles', { token: auth.admin, body: {} }, gateway)
    expect(absent.status, 'name taken from a polluted prototype').toBe(422)
  }
})

test('N104: protected members of a principal in a body: ignored', async () => {
  const given = { id: 'f'.repeat(32), enabled: false, banned: true, created_at: '2000-01-01' }
  const wanted = { type: 'service_account', subject: 'n104', roles: [] }
  const made = await auth.requestOk('POST /admin/principals', { body: { ...wanted, ...given } })
  expect(made).toMatchObject({ ...wanted, enabled: true, external_issuer: 'svc' })
  expect(made.id).not.toBe(given.id)
  const change = { roles: ['admin'], subject: 'root', type: 'user', external_issuer: 'x' }
  const changed = await auth.requestOk('PATCH /admin/principals/n104', { body: change })
  expect(changed).toEqual(made)
})

test.each(headerCases)('%s', async (_, lines, status) => {
  for (const gateway of auth.system.gateways) {
    const head = [
      'POST /workflows/a/x/run/async HTTP/1.1',
      'Host: localhost',
      'Connection: close',
      ...lines,
    ]
    // The bytes that follow must not be parsed as a second request.
    const second = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const answer = await sendRaw(gateway, `${head.join('\r\n')}\r\n\r\n${second}`)
    expect(answer.status, answer.text).toBe(status)
    expect(answer.text).not.toContain('HTTP/1.1 200')
  }
})
