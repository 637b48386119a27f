import type { Approval, Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { notFound } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { mayDecideCall, mayDecideTask, mayListApprovals, mayReadApprovals } from './approval.ts'
import type { Asked } from './rule.ts'

const execution = {
  workflow_namespace: 'ops',
  workflow_name: 'deploy',
  workflow_version: 2,
} as Execution

const approval = { task_call_id: 'pay_1', task_name: 'pay' } as Approval

/** A caller with these permissions before an execution of ops/deploy, which requires `ops:*` of them. */
const asking = (permissions: string[] | undefined, isDeleted = false) =>
  ({
    params: { execution_id: 'x', task_call_id: 'pay_1', task_name: 'pay' },
    caller: { subject: 'me', permissions },
    body: async () => ({ approved: true }),
    services: {
      executions: { get: async () => execution },
      approvals: { list: async () => ({ approvals: [approval], total: 1 }) },
      resolve: async () => {
        if (isDeleted) throw notFound('Workflow', 'ops/deploy')
        return { metadata_json: '{"required_permissions":["ops:deploy"]}' }
      },
    },
  }) as unknown as Asked<{ execution_id: string; task_call_id: string; task_name: string }>

const READ = 'workflow:ops:deploy:read'
const APPROVE = 'workflow:ops:deploy:task:pay:approve'

test.each([
  ['nothing', [], READ],
  ['the right to read', [READ], 'ops:deploy'],
  ['what the workflow requires', ['ops:deploy'], READ],
  ['both', [READ, 'ops:deploy'], undefined],
  ['everything', ['*'], undefined],
])('a task is decided with %s: %j', async (_, permissions, missing) => {
  const verdict = mayDecideTask.admit(asking(permissions))
  if (missing === undefined) return expect(await verdict).toBe(approval)
  await expect(verdict).rejects.toMatchObject({
    kind: 'forbidden',
    details: { error: 'forbidden', missing_permission: missing },
  })
})

test.each([
  [[READ, 'ops:deploy'], APPROVE],
  [[READ, APPROVE], 'ops:deploy'],
  [[APPROVE, 'ops:deploy'], READ],
  [[READ, APPROVE, 'ops:deploy'], undefined],
])('a call is decided with %j', async (permissions, missing) => {
  const verdict = mayDecideCall.admit(asking(permissions))
  if (missing === undefined) return expect(await verdict).toBe(approval)
  await expect(verdict).rejects.toMatchObject({ details: { missing_permission: missing } })
})

test('what a deleted workflow required is unknown: the right to run it is asked for', async () => {
  const verdict = mayDecideTask.admit(asking([READ, 'ops:deploy'], true))
  await expect(verdict).rejects.toMatchObject({
    details: { missing_permission: 'workflow:ops:deploy:run' },
  })
  const allowed = asking([READ, 'workflow:ops:deploy:run'], true)
  expect(await mayDecideTask.admit(allowed)).toBe(approval)
})

test('approvals are seen with the right to read their workflow, and only those are listed', async () => {
  expect(await mayReadApprovals.admit(asking([READ]))).toBe(execution)
  await expect(mayReadApprovals.admit(asking(['workflow:ops:other:read']))).rejects.toMatchObject({
    kind: 'forbidden',
  })
  expect(await mayListApprovals.admit(asking(undefined))).toEqual([])
  expect(await mayListApprovals.admit(asking(['workflow:*:*:read']))).toEqual([])
  expect(await mayListApprovals.admit(asking([READ, 'schedule:*']))).toEqual([
    { namespace: 'ops', name: 'deploy' },
  ])
  await expect(mayListApprovals.admit(asking(['schedule:*']))).rejects.toMatchObject({
    kind: 'forbidden',
    details: { error: 'forbidden' },
  })
})
