import type { Approval, Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { notFound } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { mayDecideCall, mayDecideTask, mayListApprovals, mayReadApprovals } from './approval.ts'
import type { AccessRequest } from './rule.ts'

const execution = {
  workflow_namespace: 'ops',
  workflow_name: 'deploy',
  workflow_version: 2,
} as Execution

const approval = { task_call_id: 'pay_1', task_name: 'pay' } as Approval

/** A caller with these permissions before an execution of ops/deploy, which requires `ops:*` of them. */
const asking = (permissions: string[] | undefined, absent?: 'execution' | 'workflow') =>
  ({
    params: { execution_id: 'x', task_call_id: 'pay_1', task_name: 'pay' },
    caller: { subject: 'me', permissions },
    body: async () => ({ approved: true }),
    services: {
      executions: {
        get: async (id: string) => {
          if (absent === 'execution') throw notFound('Execution', id)
          return execution
        },
      },
      approvals: { list: async () => ({ approvals: [approval], total: 1 }) },
      resolveWorkflow: async () => {
        if (absent === 'workflow') throw notFound('Workflow', 'ops/deploy')
        return { metadata_json: '{"required_permissions":["ops:deploy"]}' }
      },
    },
  }) as unknown as AccessRequest<{ execution_id: string; task_call_id: string; task_name: string }>

const READ = 'workflow:ops:deploy:read'
const APPROVE = 'workflow:ops:deploy:task:pay:approve'

test.each([
  ['the right to read', [READ], 'ops:deploy'],
  ['both', [READ, 'ops:deploy'], undefined],
  ['everything', ['*'], undefined],
])('a task is decided with %s: %j', async (_, permissions, missing) => {
  const verdict = mayDecideTask.authorize(asking(permissions))
  if (missing === undefined) return expect(await verdict).toBe(approval)
  await expect(verdict).rejects.toMatchObject({
    kind: 'forbidden',
    details: { error: 'forbidden', missing_permission: missing },
  })
})

test.each([
  [[READ, 'ops:deploy'], APPROVE],
  [[READ, APPROVE], 'ops:deploy'],
  [[READ, APPROVE, 'ops:deploy'], undefined],
])('a call is decided with %j', async (permissions, missing) => {
  const verdict = mayDecideCall.authorize(asking(permissions))
  if (missing === undefined) return expect(await verdict).toBe(approval)
  await expect(verdict).rejects.toMatchObject({ details: { missing_permission: missing } })
})

test('what a deleted workflow required is unknown: the right to run it is asked for', async () => {
  const verdict = mayDecideTask.authorize(asking([READ, 'ops:deploy'], 'workflow'))
  await expect(verdict).rejects.toMatchObject({
    details: { missing_permission: 'workflow:ops:deploy:run' },
  })
  const allowed = asking([READ, 'workflow:ops:deploy:run'], 'workflow')
  expect(await mayDecideTask.authorize(allowed)).toBe(approval)
})

test.each([
  ['nothing', [], 'forbidden'],
  ['what the workflow requires', ['ops:deploy', APPROVE], 'forbidden'],
  ['the right to read another workflow', ['workflow:ops:other:read', 'ops:deploy'], 'not_found'],
])('whoever may not read the workflow learns nothing of it, with %s', async (_, held, kind) => {
  for (const rule of [mayReadApprovals, mayDecideCall, mayDecideTask]) {
    const refused = await rule.authorize(asking(held)).catch((error) => error)
    const absent = await rule.authorize(asking(held, 'execution')).catch((error) => error)
    expect(refused).toMatchObject({ kind })
    expect([refused.message, refused.details]).toEqual([absent.message, absent.details])
    expect(JSON.stringify(refused)).not.toContain('ops')
  }
})

test('approvals are seen with the right to read their workflow, and only those are listed', async () => {
  expect(await mayReadApprovals.authorize(asking([READ]))).toBe(execution)
  expect(await mayListApprovals.authorize(asking(undefined))).toEqual([])
  expect(await mayListApprovals.authorize(asking(['workflow:*:*:read']))).toEqual([])
  expect(await mayListApprovals.authorize(asking([READ, 'schedule:*']))).toEqual([
    { namespace: 'ops', name: 'deploy' },
  ])
  await expect(mayListApprovals.authorize(asking(['schedule:*']))).rejects.toMatchObject({
    kind: 'forbidden',
    details: { error: 'forbidden' },
  })
})
