import { withTest } from '@windlass/testkit/defer'
import { expect, test } from 'vitest'
import { startAuthSystem } from './auth-system.ts'

const source = (namespace: string, options: string) => `
from windlass import ExecutionContext, task, workflow


@task.with_options(requires_approval=True${options})
async def pay(amount: int) -> str:
    return f"paid {amount}"


@workflow.with_options(namespace="${namespace}")
async def spend(ctx: ExecutionContext[int]):
    return await pay(ctx.input)
`

/** Everything that starter and approver need, in every namespace of these tests. */
const PERMISSIONS = [
  'workflow:*:*:read',
  'workflow:*:*:run',
  'workflow:*:*:task:*:execute',
  'workflow:*:*:task:*:approve',
  'execution:*:read',
]

const FORBIDDEN = {
  status: 403,
  text: expect.stringContaining('separate_approver'),
}

test('separate approver with the Python worker: the starter may not decide, another principal may', async () => {
  const auth = await startAuthSystem(withTest, {
    workers: 1,
    env: { SVC_SECURITY__PROTECTED_NAMESPACES: 'ledger-*' },
  })
  await auth.requestOk('POST /admin/roles', { body: { name: 'clerk', permissions: PERMISSIONS } })
  const starter = await auth.createAccount(['clerk'])
  const approver = await auth.createAccount(['clerk'])
  const gates: [namespace: string, options: string, isSeparate: boolean][] = [
    ['by-option', ', separate_approver=True', true],
    ['ledger-eu', '', true],
    ['plain', '', false],
  ]
  for (const [namespace, options, isSeparate] of gates) {
    expect((await auth.upload(source(namespace, options))).status).toBe(200)
    const as = ({ key }: { key: string }) => ({ token: key })
    const run = `POST /workflows/${namespace}/spend/run/async`
    const { execution_id } = await auth.requestOk(run, { ...as(starter), body: 5 })
    const read = async () => auth.requestOk(`GET /executions/${execution_id}`)
    await expect.poll(async () => (await read()).state).toBe('PAUSED')
    const { body } = await auth.request(`GET /executions/${execution_id}/approvals`, as(starter))
    const [{ task_call_id }] = (body as { approvals: [{ task_call_id: string }] }).approvals
    const call = `POST /executions/${execution_id}/approvals/${encodeURIComponent(task_call_id)}`
    const authorize = `POST /executions/${execution_id}/authorize/pay`
    if (isSeparate) {
      for (const what of [`${call}/approve`, `${call}/reject`])
        expect(await auth.request(what, { ...as(starter), body: {} })).toMatchObject(FORBIDDEN)
      for (const approved of [true, false]) {
        const decision = { ...as(starter), body: { approved } }
        expect(await auth.request(authorize, decision)).toMatchObject(FORBIDDEN)
      }
      expect((await read()).state).toBe('PAUSED')
      await auth.requestOk(`${call}/approve`, { ...as(approver), body: {} })
    } else await auth.requestOk(`${call}/approve`, { ...as(starter), body: {} })
    await expect.poll(read).toMatchObject({ state: 'COMPLETED', output: 'paid 5' })
  }
})
