import { ApprovalsService } from '@windlass/proto/windlass/executions/v1/executions'
import { clientOf } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { type Client, cancel, event, get, run, setup, worker } from './executions-fixture.ts'

const everything = {
  status: '',
  execution_id: '',
  workflow_namespace: '',
  workflow_name: '',
  task_name: '',
  task_call_id: '',
  requested_before: undefined,
  within: [],
  limit: 20,
  offset: 0,
}

async function atGate() {
  const { client, ports } = await setup()
  return gate(client, ports)
}

async function gate(client: Client, ports: number[]) {
  const approvals = clientOf(
    ApprovalsService,
    ports.map((port) => `127.0.0.1:${port}`),
  )
  onTestFinished(() => approvals.close())
  const w = worker(client)
  const { execution_id } = await run(client)
  await w.lease()
  await w.claim(execution_id)
  const ask = (task_call_id: string, task_name = 'pay') =>
    approvals.request({ execution_id, writer: w.writer(1), task_call_id, task_name })
  const pause = (task_call_id: string, generation = 1) =>
    w.report(execution_id, 'PAUSED', {
      generation,
      events: [
        event('WORKFLOW_PAUSED', {
          value_json: `{"name":"approval:${task_call_id}","output":null}`,
        }),
      ],
    })
  const decide = (task_call_id: string, approved = true, more = {}) =>
    approvals.decide(
      { execution_id, task_call_id, task_name: '', approved, always: false, ...more },
      { caller: { subject: 'me', issuer: 'svc' } },
    )
  return { client, approvals, w, execution_id, ask, pause, decide }
}

test('a decision: resumes the execution that waits for it, and names the approver', async () => {
  const { client, w, execution_id, ask, pause, decide, approvals } = await atGate()
  expect(await ask('pay_1')).toEqual({ status: 'created' })
  expect(await ask('pay_1')).toEqual({ status: 'exists' })
  expect(await pause('pay_1')).toMatchObject({ state: 'PAUSED' })
  const { approval, execution } = await decide('pay_1', true, { reason: 'fine' })
  expect(approval).toMatchObject({
    status: 'approved',
    task_call_id: 'pay_1',
    task_name: 'pay',
    reason: 'fine',
    approver_subject: 'me',
    scope: 'call',
    workflow_name: 'report',
  })
  expect(execution).toMatchObject({ state: 'RESUMING' })
  const { leases } = await w.lease()
  expect(leases[0]).toMatchObject({ resumed: true, execution: { execution_id } })
  const decided = leases[0]?.log.find(({ type }) => type === 'TASK_APPROVED')
  expect(JSON.parse(decided?.value_json ?? '')).toMatchObject({
    approver: { subject: 'me', provider: 'svc' },
    reason: 'fine',
    scope: 'call',
  })
  await expect(decide('pay_1', false)).rejects.toMatchObject({
    kind: 'conflict',
    details: { error: 'already_decided', current_status: 'approved' },
  })
  await expect(decide('pay_2')).rejects.toMatchObject({ kind: 'not_found' })
  expect(await approvals.list({ ...everything, status: 'approved', execution_id })).toMatchObject({
    total: 1,
    approvals: [{ task_call_id: 'pay_1' }],
  })
  expect(await get(client, execution_id)).toMatchObject({ state: 'RESUME_SCHEDULED' })
})

test('a decision before the pause: the execution resumes as soon as it pauses', async () => {
  const { execution_id, ask, pause, decide, w } = await atGate()
  await ask('pay_1')
  expect((await decide('pay_1', false)).execution).toMatchObject({ state: 'CLAIMED' })
  expect(await pause('pay_1')).toMatchObject({ state: 'RESUMING' })
  const { leases } = await w.lease()
  expect(leases[0]?.execution?.execution_id).toBe(execution_id)
  expect(leases[0]?.log.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['TASK_REJECTED', 'WORKFLOW_PAUSED', 'WORKFLOW_RESUMING']),
  )
})

test('an execution-wide grant: approves later calls of the task in its execution', async () => {
  const { ask, decide, approvals, execution_id } = await atGate()
  await ask('pay_1')
  await decide('pay_1', true, { always: true })
  expect(await ask('pay_2')).toEqual({ status: 'granted' })
  expect(await ask('send_1', 'send')).toEqual({ status: 'created' })
  const { approvals: rows } = await approvals.list({
    ...everything,
    execution_id,
    task_call_id: 'pay_2',
  })
  expect(rows).toMatchObject([
    { status: 'approved', reason: 'standing grant', scope: 'call', approver_subject: 'me' },
  ])
})

test('a list for given workflows: has no other', async () => {
  const { ask, approvals, execution_id } = await atGate()
  await ask('pay_1')
  const count = async (...within: { namespace: string; name: string }[]) =>
    (await approvals.list({ ...everything, execution_id, within })).total
  const every = { namespace: '*', name: '*' }
  const own = { namespace: 'default', name: 'report' }
  const other = { namespace: 'default', name: 'others' }
  expect(await count()).toBe(1)
  expect(await count(every)).toBe(1)
  expect(await count(other, own)).toBe(1)
  expect(await count({ ...own, name: '*' })).toBe(1)
  expect(await count(other, { ...own, namespace: 'sales' })).toBe(0)
})

test('an execution ends or is cancelled: no approval stays pending', async () => {
  const { client, execution_id, ask, pause, decide } = await atGate()
  await ask('pay_1')
  await pause('pay_1')
  expect(await cancel(client, execution_id)).toMatchObject({ state: 'CANCELLED' })
  await expect(decide('pay_1')).rejects.toMatchObject({
    kind: 'conflict',
    details: { current_status: 'cancelled' },
  })
})

test('approve races cancel: both answers agree with the committed outcome', async () => {
  const { client, ports } = await setup({ replicas: 2 })
  for (let round = 0; round < 40; round++) {
    const { execution_id, ask, pause, decide } = await gate(client, ports)
    await ask('pay_1')
    await pause('pay_1')
    const [decided, cancelled] = await Promise.allSettled([
      decide('pay_1'),
      cancel(client, execution_id),
    ])
    expect(cancelled.status).toBe('fulfilled')
    expect((await get(client, execution_id)).state).toBe('CANCELLED')
    if (decided.status === 'rejected') expect(decided.reason).toMatchObject({ kind: 'conflict' })
    else expect(decided.value.approval?.status).toBe('approved')
  }
})

test('a request by a worker that is not the holder: refused', async () => {
  const { approvals, execution_id } = await atGate()
  const writer = { worker_name: 'stranger', session_id: '', claim_generation: 1 }
  await expect(
    approvals.request({ execution_id, writer, task_call_id: 'x', task_name: 'x' }),
  ).rejects.toMatchObject({ kind: 'conflict', message: expect.stringContaining('stale-claim') })
})
