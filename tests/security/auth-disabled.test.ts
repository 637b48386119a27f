import { afterAll, beforeAll, expect, test } from 'vitest'
import { assertResponse } from './assert-response.ts'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { b2, type Expected } from './cases.ts'
import { idleWorker } from './idle-worker.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one), {
    isAuthDisabled: true,
    replicas: { gateway: 2 },
  })
  expect((await auth.upload(workflowSource('a', 'x', ', secret_requests=["s"]'))).status).toBe(200)
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

/** The response of routes that need an encryption key when none is set. */
const KEYLESS: Expected = [500, { detail: expect.stringContaining('encryption_key') }]

/** Authentication off: every caller may do everything, as `anonymous`; there is no key for secrets. */
const cases: [what: string, body: unknown, expected: Expected][] = [
  ['GET /admin/secrets', undefined, KEYLESS],
  ['POST /admin/secrets', { name: 's', value: 'canary' }, KEYLESS],
  ['GET /admin/secrets/s', undefined, KEYLESS],
  ['DELETE /admin/secrets/s', undefined, KEYLESS],
  ['POST /admin/secrets/batch', ['s'], KEYLESS],
  ['POST /admin/secrets/batch', [], KEYLESS],
  ['POST /admin/secrets/rotate-key', undefined, KEYLESS],
  ['POST /admin/configs', { name: 'c', value: 1 }, 200],
  ['GET /admin/roles', undefined, 200],
  ['GET /admin/audit', undefined, 200],
  ['GET /schedules', undefined, 200],
  ['GET /executions', undefined, 200],
  ['GET /approvals', undefined, 200],
  [
    'GET /auth/permissions',
    undefined,
    [200, { 'a/x': expect.arrayContaining(['admin:secrets:read']) }],
  ],
  ['POST /workflows/a/x/run/async', null, 200],
  [
    'POST /auth/test-token',
    { token: 'anything' },
    [200, { valid: true, subject: 'anonymous', roles: [], permissions: [] }],
  ],
  ['POST /workers/register', {}, [401, { detail: 'Authorization header missing' }]],
]

test.each(cases)('authentication off: %s %j', async (what, body, expected) => {
  for (const gateway of [0, 1])
    for (const token of [undefined, 'unknown.token'])
      if (token === undefined || !what.includes('register')) {
        const answer = await auth.request(what, { token, body }, gateway)
        assertResponse(answer, expected)
        expect(answer.text).not.toContain('canary')
      }
})

test('authentication off: a scheme other than Bearer is refused', async () => {
  const headers = { authorization: 'Basic dTpw' }
  for (const gateway of [0, 1])
    assertResponse(await auth.request('GET /workflows', { headers }, gateway), b2)
})

test('no encryption key: the claim holder gets 500, names that are not declared get 403', async () => {
  const worker = await idleWorker(auth, 'w1')
  teardown.push(() => worker.disconnect())
  const { execution_id = '' } = await auth.requestOk('POST /workflows/a/x/run/async', {
    body: null,
  })
  const { generation } = await worker.claim(execution_id)
  const headers = { 'x-svc-claim-generation': generation }
  const ask = (names: string[]) => worker.call('secrets/batch', { execution_id, names }, headers)
  assertResponse(await ask(['s']), KEYLESS)
  assertResponse(await ask(['other']), 403)
})
