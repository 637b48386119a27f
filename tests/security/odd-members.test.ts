import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one))
  expect((await auth.upload(workflowSource('a', 'x'))).status).toBe(200)
  await auth.requestOk('POST /admin/roles', { body: { name: 'odd', permissions: [] } })
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

const ODD: unknown[] = [
  ...[-1, 1e308, 2 ** 53 + 2, 'a\0', 'a\ud800', 'x'.repeat(70_000), '__proto__', 'constructor'],
  ...[['a\0'], ['a\ud800'], [null], Array(2_000).fill('x'), { 'a\0': 'a\ud800' }],
  ...[{ toString: 1, valueOf: 1, toJSON: 1, constructor: null, length: -1 }],
  ...[JSON.parse('{"__proto__":{"toString":1}}'), '0000-01-01T00:00:00Z'],
]

/** Valid bodies with all their members. */
const BODIES: [request: string, body: Record<string, unknown>][] = [
  ['PATCH /admin/principals/root', { display_name: 'x', enabled: true }],
  ['PATCH /admin/roles/odd', { add_permissions: ['a:b'], remove_permissions: ['c:d'] }],
  [
    'POST /admin/roles/odd/simulate',
    { add_permissions: ['a:b'], remove_permissions: [], delete: false },
  ],
  [
    'POST /admin/secrets',
    { name: 'odd', value: 1, namespaces: ['a'], workflows: ['x'], keep_previous: 5 },
  ],
  ['POST /admin/configs', { name: 'odd', value: 1, namespaces: ['a'], workflows: ['x'] }],
  ['PUT /me/views/odd', { screen: 'executions', query: 'a=b' }],
  [
    'POST /executions/bulk',
    {
      ...{ filter: { namespace: 'a' }, action: 'fork', dry_run: true, expect: 1 },
      ...{ input: 1, version: 1, after_seq: 0 },
    },
  ],
]

test.each(BODIES)('%s with odd members: answered, and never with 5xx', async (request, body) => {
  await auth.requestOk(request, { body })
  for (const name of Object.keys(body))
    for (const value of ODD) {
      const answer = await auth.request(request, {
        token: auth.admin,
        body: { ...body, [name]: value },
      })
      expect(answer.status, `${name}: ${JSON.stringify(value).slice(0, 80)}`).toBeLessThan(500)
    }
  await auth.requestOk(request, { body })
})
