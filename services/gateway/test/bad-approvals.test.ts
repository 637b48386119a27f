import { expect, test } from 'vitest'
import { approval, approvalsFixture } from './approvals-fake.ts'
import { ID } from './assert-response.ts'

const NOT_FOUND = { detail: { error: 'not_found' } }

test('an unknown execution or approval: 404 with the error not_found', async () => {
  const { get, post } = await approvalsFixture()
  const other = ID.replace('0', '1')
  for (const id of [ID, other]) {
    expect(await get(`/executions/${id}/approvals/x`)).toEqual({ status: 404, body: NOT_FOUND })
    for (const path of ['approvals/x/approve', 'approvals/x/reject'])
      expect(await post(`/executions/${id}/${path}`)).toEqual({ status: 404, body: NOT_FOUND })
    const response = await post(`/executions/${id}/authorize/x`, { approved: true })
    expect(response).toEqual({ status: 404, body: NOT_FOUND })
  }
  expect(await get(`/executions/${other}/approvals`)).toEqual({ status: 404, body: NOT_FOUND })
})

const DECIDE = `/executions/${ID}/authorize/pay`
const APPROVE = `/executions/${ID}/approvals/pay_1/approve`
const REQUEST = `/workers/w1/approvals/${ID}`

const bodies: [string, path: string, body: unknown, status: number][] = [
  ['a decision without approved', DECIDE, {}, 422],
  ['a decision that is text', DECIDE, { approved: 'yes' }, 422],
  ['a decision that is a number', DECIDE, { approved: 1 }, 422],
  ['a decision that is null', DECIDE, { approved: null }, 422],
  ['a decision that is a list', DECIDE, [true], 422],
  ['no decision', DECIDE, undefined, 422],
  ['a reason that is a number', DECIDE, { approved: true, reason: 1 }, 422],
  ['always that is text', DECIDE, { approved: true, always: 'yes' }, 422],
  ['a reason with a NUL', APPROVE, { reason: 'a\0' }, 422],
  ['a lone surrogate in a reason', APPROVE, { reason: '\ud800' }, 422],
  ['a reason longer than 10,000 characters', APPROVE, { reason: 'x'.repeat(10_001) }, 422],
  ['a body that is text', APPROVE, 'fine', 422],
  ['a reason of two lines', APPROVE, { reason: 'a\nb', always: null }, 200],
  ['a call id with a NUL', `/executions/${ID}/approvals/a%00/approve`, undefined, 404],
  [
    'a call id longer than 256 characters',
    `/executions/${ID}/approvals/${'x'.repeat(257)}/reject`,
    {},
    404,
  ],
  ['a malformed execution id', '/executions/x/authorize/pay', { approved: true }, 404],
  ['a request without a call id', REQUEST, { task_name: 'pay' }, 422],
  ['a request without a task name', REQUEST, { task_call_id: 'pay_1' }, 422],
  ['a request with an empty call id', REQUEST, { task_call_id: '', task_name: 'pay' }, 422],
  ['a request with a NUL in the call id', REQUEST, { task_call_id: 'a\0', task_name: 'pay' }, 422],
  ['a request without a body', REQUEST, undefined, 422],
]

test.each(bodies.map(([what, path, body, status]) => [what, status, path, body] as const))(
  '%s: %i',
  async (_, status, path, body) => {
    const { post } = await approvalsFixture(approval())
    expect((await post(path, body)).status).toBe(status)
  },
)

test.each([
  'status=maybe',
  'limit=0',
  'limit=201',
  'offset=-1',
  'age_min=1h',
  'age_min=PT',
  'execution_id=x',
  'task_name=%00',
])('GET /approvals?%s: 422', async (query) => {
  const { get } = await approvalsFixture()
  expect((await get(`/approvals?${query}`)).status).toBe(422)
})
