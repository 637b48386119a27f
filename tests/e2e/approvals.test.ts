import { startSystem } from '@windlass/testkit/system'
import { expect, test } from 'vitest'
import { client } from './api.ts'

const SOURCE = `
from windlass import ExecutionContext, task, workflow
from windlass.approvals import ApprovalRejected


@task.with_options(requires_approval=True)
async def pay(amount: int):
    return f"paid {amount}"


@workflow
async def spend(context: ExecutionContext):
    return await pay(context.input)


@workflow
async def spend_or_ask(context: ExecutionContext):
    try:
        return await pay(context.input)
    except ApprovalRejected as error:
        return f"not paid: {error.reason}"
`

/** Starts a workflow and waits until its task requests an approval. */
async function atGate(api: ReturnType<typeof client>, name: string) {
  const { execution_id } = await api.run(name, 'async', 12)
  const paused = await api.until(execution_id, 'PAUSED')
  const { approvals } = await api.json('GET', `/executions/${execution_id}/approvals`)
  expect(approvals).toMatchObject([{ status: 'pending', task_name: 'pay', workflow_name: name }])
  const call: string = approvals[0].task_call_id
  const path = `/executions/${execution_id}`
  return { execution_id, paused, path, call: encodeURIComponent(call) }
}

test('task that requires approval: runs after an approval, fails after a rejection', async () => {
  const system = await startSystem({ singleProcess: true })
  const api = client(system.url)
  await api.upload(SOURCE)

  const first = await atGate(api, 'spend')
  const summary = await api.json('GET', first.path)
  expect(summary.output).toMatchObject({ type: 'approval_required', task_name: 'pay' })
  expect(await api.json('GET', '/approvals')).toMatchObject({ total: 1, auth_filtered: false })
  const approved = await api.json('POST', `${first.path}/approvals/${first.call}/approve`, {
    reason: 'fine',
  })
  expect(approved).toMatchObject({
    status: 'approved',
    reason: 'fine',
    execution_state: 'RESUMING',
    approver: { subject: 'anonymous', provider: 'svc' },
  })
  expect(await api.until(first.execution_id, 'COMPLETED', 'FAILED')).toMatchObject({
    state: 'COMPLETED',
    output: 'paid 12',
  })
  const again = await api.call('POST', `${first.path}/authorize/pay`, { approved: false })
  expect(again.status).toBe(409)
  expect(await again.json()).toMatchObject({
    error: 'already_decided',
    current_status: 'approved',
  })

  const second = await atGate(api, 'spend')
  await api.json('POST', `${second.path}/authorize/pay`, { approved: false, reason: 'too much' })
  const failed = await api.until(second.execution_id, 'COMPLETED', 'FAILED')
  expect(failed.state, JSON.stringify(failed)).toBe('FAILED')

  const third = await atGate(api, 'spend_or_ask')
  await api.json('POST', `${third.path}/approvals/${third.call}/reject`, { reason: 'too much' })
  expect(await api.until(third.execution_id, 'COMPLETED', 'FAILED')).toMatchObject({
    state: 'COMPLETED',
    output: 'not paid: too much',
  })
})
