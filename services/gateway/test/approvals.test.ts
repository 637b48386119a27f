import type { ListApprovalsRequest } from '@windlass/proto/windlass/executions/v1/executions'
import { expect, test } from 'vitest'
import { approval, approvalsFixture, LATER } from './approvals-fake.ts'
import { ID } from './assert-response.ts'

const record = {
  approval_id: 'a'.repeat(32),
  execution_id: ID,
  task_call_id: 'pay_1',
  task_name: 'pay',
  workflow_namespace: 'default',
  workflow_name: 'hello',
  status: 'pending',
  requested_at: '2026-01-02T03:04:05.000Z',
  decided_at: null,
  approver: null,
  reason: null,
  scope: 'call',
}

const DECIDED = {
  ...record,
  status: 'approved',
  decided_at: '2026-01-02T03:05:00.000Z',
  approver: { subject: 'anonymous', provider: 'svc' },
  execution_state: 'SCHEDULED',
}

test('a pending approval: list and single reads answer every member', async () => {
  const { get } = await approvalsFixture(approval())
  expect(await get(`/executions/${ID}/approvals`)).toEqual({
    status: 200,
    body: { approvals: [record], total: 1, limit: 20, offset: 0 },
  })
  expect(await get(`/executions/${ID}/approvals/pay_1`)).toEqual({ status: 200, body: record })
  expect(await get('/approvals')).toEqual({
    status: 200,
    body: { approvals: [record], total: 1, limit: 20, offset: 0, auth_filtered: false },
  })
})

test('list filters: all reach the executions service; the default status is pending', async () => {
  const { get, fixture } = await approvalsFixture()
  for (const [status, passed] of [
    ['', 'pending'],
    ['all', ''],
    ['rejected', 'rejected'],
  ]) {
    await get(`/approvals?status=${status}`)
    expect(fixture.lists.at(-1)).toMatchObject({ status: passed, requested_before: undefined })
  }
  const before = Date.now() - 90_000
  await get(
    `/approvals?age_min=PT1M30S&execution_id=${ID.toUpperCase()}&workflow_namespace=default&workflow_name=hello&task_name=pay&limit=7&offset=3`,
  )
  const { requested_before, ...filter } = fixture.lists.at(-1) as ListApprovalsRequest
  expect(filter).toEqual({
    status: 'pending',
    execution_id: ID,
    workflow_namespace: 'default',
    workflow_name: 'hello',
    task_name: 'pay',
    task_call_id: '',
    within: [],
    limit: 7,
    offset: 3,
  })
  expect(Number(requested_before)).toBeGreaterThanOrEqual(before)
  expect(Number(requested_before)).toBeLessThan(before + 10_000)
})

test.each([
  ['approvals/pay_1/approve', { reason: 'fine', always: true }, true],
  ['approvals/pay_1/reject', { reason: 'fine' }, false],
  ['authorize/pay', { approved: true, reason: 'fine', always: true, more: 1 }, true],
  ['authorize/pay_1', { approved: false, reason: 'fine' }, false],
])(
  '%s: the first call decides, the second gets 409 with the decision',
  async (path, body, approved) => {
    const { post, fixture } = await approvalsFixture(approval())
    const status = approved ? 'approved' : 'rejected'
    expect(await post(`/executions/${ID}/${path}`, body)).toEqual({
      status: 200,
      body: { ...DECIDED, status, reason: 'fine' },
    })
    expect(fixture.decisions).toMatchObject([
      { task_call_id: 'pay_1', approved, always: approved, approver_subject: 'anonymous' },
    ])
    expect(await post(`/executions/${ID}/${path}`, body)).toEqual({
      status: 409,
      body: {
        error: 'already_decided',
        current_status: status,
        decided_at: '2026-01-02T03:05:00.000Z',
      },
    })
  },
)

test('a decision without a body: decided with no reason', async () => {
  const { post } = await approvalsFixture(approval())
  expect(await post(`/executions/${ID}/approvals/pay_1/approve`)).toEqual({
    status: 200,
    body: DECIDED,
  })
})

test('several pending calls of one task: the oldest is decided first', async () => {
  const { post, fixture } = await approvalsFixture(
    approval({ task_call_id: 'pay_3' }),
    approval({ task_call_id: 'pay_2' }),
    approval({ task_call_id: 'pay_1', status: 'rejected', decided_at: LATER }),
  )
  await post(`/executions/${ID}/authorize/pay`, { approved: true })
  await post(`/executions/${ID}/authorize/pay`, { approved: true })
  expect(fixture.decisions.map(({ task_call_id }) => task_call_id)).toEqual(['pay_2', 'pay_3'])
})

const RESERVED = 'a/b c/ü%~"\'?#/approve'

test.each([
  ['encoded as one segment', encodeURIComponent(RESERVED)],
  ['with literal slashes', RESERVED.split('/').map(encodeURIComponent).join('/')],
])('a call id of reserved characters, %s: approvals find it', async (_, segment) => {
  const { get, post, call } = await approvalsFixture(
    approval({ task_call_id: RESERVED, task_name: 'a/b' }),
  )
  const shown = await call('GET', `/workers/w1/approvals/${ID}/${segment}`)
  expect(await shown.json()).toMatchObject({ approval: { status: 'pending', task_name: 'a/b' } })
  const whole = encodeURIComponent(RESERVED)
  expect((await get(`/executions/${ID}/approvals/${whole}`)).body).toMatchObject({
    task_call_id: RESERVED,
  })
  expect((await post(`/executions/${ID}/approvals/${segment}/approve`)).status).toBe(200)
  expect((await post(`/executions/${ID}/authorize/a/b`, { approved: true })).status).toBe(409)
})
