import { afterAll, beforeAll, expect, test } from 'vitest'
import { check } from './check.ts'
import { type House, openHouse, workflowSource } from './house.ts'
import { b2, type Expected } from './rows.ts'
import { idleWorker } from './worker.ts'

const undo: (() => unknown)[] = []
let house: House

beforeAll(async () => {
  house = await openHouse((one) => undo.push(one), { isOpen: true, replicas: { gateway: 2 } })
  expect((await house.upload(workflowSource('a', 'x', ', secret_requests=["s"]'))).status).toBe(200)
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

/** The refusal of whatever needs the key that nobody set. */
const KEYLESS: Expected = [500, { detail: expect.stringContaining('encryption_key') }]

/** While authentication is off: everybody does everything, without a name and without a key for secrets. */
const rows: [what: string, body: unknown, expected: Expected][] = [
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

test.each(rows)('while authentication is off: %s %j', async (what, body, expected) => {
  for (const gateway of [0, 1])
    for (const token of [undefined, 'nobody.knows'])
      if (token === undefined || !what.includes('register')) {
        const answer = await house.ask(what, { token, body }, gateway)
        check(answer, expected)
        expect(answer.text).not.toContain('canary')
      }
})

test('while authentication is off another scheme than Bearer is refused all the same', async () => {
  const headers = { authorization: 'Basic dTpw' }
  for (const gateway of [0, 1]) check(await house.ask('GET /workflows', { headers }, gateway), b2)
})

test('a worker without a key behind it is told so, once it is clear that the work is its own', async () => {
  const worker = await idleWorker(house, 'w1')
  undo.push(() => worker.leave())
  const { execution_id = '' } = await house.must('POST /workflows/a/x/run/async', { body: null })
  const { generation } = await worker.hold(execution_id)
  const headers = { 'x-svc-claim-generation': generation }
  const ask = (names: string[]) => worker.call('secrets/batch', { execution_id, names }, headers)
  check(await ask(['s']), KEYLESS)
  check(await ask(['other']), 403)
})
