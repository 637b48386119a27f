import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { approval, approvalsFixture, LATER } from './approvals-fake.ts'
import { ID } from './assert-response.ts'
import { startGateway } from './gateway-fixture.ts'

test('a worker requests an approval with its claim: created, then read with the decision', async () => {
  const { call, json, fixture } = await approvalsFixture(
    approval({
      status: 'approved',
      decided_at: LATER,
      approver_subject: 'me',
      approver_provider: 'svc',
    }),
  )
  const approvalRequest = { task_call_id: 'pay/1 x', task_name: 'pay' }
  const headers = { authorization: 'Bearer session-of-w1', 'x-flux-claim-generation': '3' }
  const response = await json('POST', `/workers/w1/approvals/${ID}`, approvalRequest, headers)
  expect(await response.json()).toEqual({ status: 'created' })
  expect(fixture.requests).toEqual([
    {
      execution_id: ID,
      ...approvalRequest,
      writer: { worker_name: 'w1', session_id: '5'.repeat(32), claim_generation: 3 },
    },
  ])
  const read = async (id: string) => (await call('GET', `/workers/w1/approvals/${ID}/${id}`)).json()
  expect(await read('pay_1')).toEqual({
    approval: {
      id: 'a'.repeat(32),
      status: 'approved',
      task_name: 'pay',
      workflow_namespace: 'default',
      workflow_name: 'hello',
      requested_at: '2026-01-02T03:04:05.000Z',
      approver_subject: 'me',
      approver_provider: 'svc',
      reason: null,
      scope: 'call',
    },
  })
  expect(await read('pay_2')).toEqual({ approval: null })
})

test('another worker requests or reads an approval: 409 stale-claim', async () => {
  const stale = 'stale-claim: it has another owner'
  const value = { kind: 'conflict', message: stale, details_json: '' }
  const refusal = { $case: 'refusal' as const, value }
  const { call, json } = await startGateway({
    approvals: {
      request: async () => {
        throw new Fault('conflict', stale)
      },
    },
    executions: {
      submit: async () => ({ results: [{ body: refusal, log: [] }] }),
    },
  })
  const approvalRequest = { task_call_id: 'pay_1', task_name: 'pay' }
  for (const response of [
    await json('POST', `/workers/w1/approvals/${ID}`, approvalRequest),
    await call('GET', `/workers/w1/approvals/${ID}/pay_1`),
  ]) {
    expect(response.status).toBe(409)
    expect(await response.json()).toEqual({ detail: stale })
  }
})
