import { withTest } from '@windlass/testkit/defer'
import { expect, test } from 'vitest'
import { startAuthSystem } from './auth-system.ts'

const SOURCE = `
from windlass import ExecutionContext, task, workflow


@task.with_options(requires_approval=True, separate_approver=True)
async def release() -> str:
    return "released"


@task
async def pay(amount: int) -> str:
    return f"paid {amount}"


@workflow.with_options(namespace="bank")
async def transfer(ctx: ExecutionContext[int]):
    await release()
    return await pay(ctx.input)
`

const CLERK = [
  'workflow:bank:*:read',
  'workflow:bank:*:run',
  'workflow:bank:*:task:*:execute',
  'execution:bank:*:read',
]

test('a fork, with another input, of an execution that was approved: needs an approval of its own', {
  timeout: 300_000,
}, async () => {
  const auth = await startAuthSystem(withTest, { workers: 1 })
  expect((await auth.upload(SOURCE)).status).toBe(200)
  const clerk = { token: await auth.keyWith(CLERK) }
  const approver = {
    token: await auth.keyWith([...CLERK, 'workflow:bank:*:task:*:approve']),
  }
  const read = (id: string) => auth.requestOk(`GET /executions/${id}?detailed=true`)
  const run = 'POST /workflows/bank/transfer/run/async'
  const { execution_id: id = '' } = await auth.requestOk(run, { ...clerk, body: 10 })
  const pending = async (execution: string) => {
    await expect.poll(async () => (await read(execution)).state).toBe('PAUSED')
    const { body } = await auth.request(`GET /executions/${execution}/approvals`, clerk)
    const [{ task_call_id }] = (body as { approvals: [{ task_call_id: string }] }).approvals
    return `POST /executions/${execution}/approvals/${encodeURIComponent(task_call_id)}/approve`
  }
  await auth.requestOk(await pending(id), { ...approver, body: {} })
  await expect.poll(() => read(id)).toMatchObject({ state: 'COMPLETED', output: 'paid 10' })

  const { body } = await auth.request(`GET /executions/${id}/log?limit=1000`, clerk)
  const { entries } = body as { entries: { seq: number; type: string; name: string }[] }
  const released = entries.find(({ type, name }) => type === 'TASK_COMPLETED' && name === 'release')
  const wanted = { after_seq: released?.seq, input: 1_000_000 }
  const forked = await auth.requestOk(`POST /executions/${id}/fork`, { ...clerk, body: wanted })
  const fork = forked.execution as unknown as { execution_id: string }
  const approve = await pending(fork.execution_id)
  expect(await auth.request(approve, { ...clerk, body: {} })).toMatchObject({ status: 403 })
  await auth.requestOk(approve, { ...approver, body: {} })
  await expect
    .poll(() => read(fork.execution_id))
    .toMatchObject({ state: 'COMPLETED', output: 'paid 1000000' })
})
