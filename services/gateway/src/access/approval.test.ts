import { ALL_PERMISSIONS, onlyPermissions } from '@windlass/domain/permissions'
import type { Approval, Execution } from '@windlass/proto/windlass/executions/v1/executions'
import { notFound } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import {
  type Deps,
  mayDecideCall,
  mayDecideTask,
  mayListApprovals,
  mayReadApprovals,
} from './approval.ts'
import type { AccessRequest } from './rule.ts'

const execution = {
  workflow_namespace: 'ops',
  workflow_name: 'deploy',
  workflow_version: 2,
  starter: { subject: 'another', issuer: 'svc' },
} as Execution

const approval = { task_call_id: 'pay_1', task_name: 'pay' } as Approval

/** A caller with these permissions before an execution of ops/deploy, which requires `ops:deploy`. */
const request = (permissions: string[] | undefined) =>
  ({
    ctx: { req: { headers: { 'content-length': '17' } } },
    params: { execution_id: 'x', task_call_id: 'pay_1', task_name: 'pay' },
    caller: {
      subject: 'me',
      permissions: permissions ? onlyPermissions(permissions) : ALL_PERMISSIONS,
    },
    body: async () => ({ approved: true }),
  }) as unknown as AccessRequest<{ execution_id: string; task_call_id: string; task_name: string }>

const without = (absent?: 'execution' | 'workflow') =>
  ({
    executions: {
      get: async (id: string) => {
        if (absent === 'execution') throw notFound('Execution', id)
        return execution
      },
    },
    settings: { security: { protected_namespaces: [] } },
    approvals: { list: async () => ({ approvals: [approval], total: 1 }) },
    resolveWorkflow: async () => {
      if (absent === 'workflow') throw notFound('Workflow', 'ops/deploy')
      return { metadata_json: '{"required_permissions":["ops:deploy"]}' }
    },
  }) as unknown as Deps

const ALL = { kind: 'all' }
const READ = 'workflow:ops:deploy:read'
const APPROVE = 'workflow:ops:deploy:task:pay:approve'

test.each([
  ['permission to read', [READ], 'ops:deploy'],
  ['both', [READ, 'ops:deploy'], undefined],
  ['everything', ['*'], undefined],
])('deciding a task requires %s: %j', async (_, permissions, missing) => {
  const verdict = mayDecideTask.authorize(request(permissions), without())
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
])('a decision about a call: requires all of %j', async (permissions, missing) => {
  const verdict = mayDecideCall.authorize(request(permissions), without())
  if (missing === undefined) return expect(await verdict).toBe(approval)
  await expect(verdict).rejects.toMatchObject({ details: { missing_permission: missing } })
})

test('deleted workflow version: permission to run the workflow is required instead', async () => {
  const verdict = mayDecideTask.authorize(request([READ, 'ops:deploy']), without('workflow'))
  await expect(verdict).rejects.toMatchObject({
    details: { missing_permission: 'workflow:ops:deploy:run' },
  })
  const allowed = request([READ, 'workflow:ops:deploy:run'])
  expect(await mayDecideTask.authorize(allowed, without('workflow'))).toBe(approval)
})

test.each([
  ['nothing', [], 'forbidden'],
  ['permissions that the workflow requires', ['ops:deploy', APPROVE], 'forbidden'],
  ['permission to read another workflow', ['workflow:ops:other:read', 'ops:deploy'], 'not_found'],
])(
  'no permission to read the workflow, %s: its existence is not disclosed',
  async (_, held, kind) => {
    for (const rule of [mayReadApprovals, mayDecideCall, mayDecideTask]) {
      const refused = await rule.authorize(request(held), without()).catch((error) => error)
      const absent = await rule
        .authorize(request(held), without('execution'))
        .catch((error) => error)
      expect(refused).toMatchObject({ kind })
      expect([refused.message, refused.details]).toEqual([absent.message, absent.details])
      expect(JSON.stringify(refused)).not.toContain('ops')
    }
  },
)

test('list of approvals: only those of readable workflows', async () => {
  expect(await mayReadApprovals.authorize(request([READ]), without())).toBe(execution)
  expect(await mayListApprovals.authorize(request(undefined), without())).toEqual(ALL)
  expect(await mayListApprovals.authorize(request(['workflow:*:*:read']), without())).toEqual(ALL)
  expect(await mayListApprovals.authorize(request([READ, 'schedule:*']), without())).toEqual({
    kind: 'only',
    workflows: [{ namespace: 'ops', name: 'deploy' }],
    ids: [],
  })
  await expect(
    mayListApprovals.authorize(request(['schedule:*']), without()),
  ).rejects.toMatchObject({
    kind: 'forbidden',
    details: { error: 'forbidden' },
  })
})

const starter = { subject: 'me', issuer: 'svc' }
const DECIDE = [READ, APPROVE, 'ops:deploy']

/** A gate of ops/deploy before a caller of this subject and issuer, which may decide it. */
function gate(given: {
  by?: Partial<typeof starter>
  separate?: string[]
  protected_namespaces?: string[]
  starter?: typeof starter | undefined
}) {
  const { by, separate, protected_namespaces = [] } = given
  const { caller, ...asked } = request(DECIDE)
  const metadata = { required_permissions: ['ops:deploy'], separate_approver_tasks: separate }
  const started = { ...execution, starter: 'starter' in given ? given.starter : starter }
  const deps = {
    ...without(),
    settings: { security: { protected_namespaces } },
    executions: { get: async () => started },
    resolveWorkflow: async () => ({ metadata_json: JSON.stringify(metadata) }),
  } as unknown as Deps
  const from = { ...asked, caller: { ...caller, ...starter, ...by } } as unknown as typeof request
  const decide = (rule: typeof mayDecideCall | typeof mayDecideTask) =>
    rule.authorize(from as never, deps).then(
      () => 'allowed',
      ({ kind, details }) => [kind, details?.reason],
    )
  return Promise.all([decide(mayDecideCall), decide(mayDecideTask)])
}

const REFUSED = ['forbidden', 'separate_approver']

test.each<[string, Parameters<typeof gate>[0], unknown]>([
  ['by default', {}, 'allowed'],
  ['task with separate_approver', { separate: ['pay'] }, REFUSED],
  ['another task', { separate: ['other'] }, 'allowed'],
  ['task whose declared name is a template', { separate: ['p{x}'] }, REFUSED],
  ['protected namespace', { protected_namespaces: ['prod', 'op*'] }, REFUSED],
  ['another namespace', { protected_namespaces: ['prod', 'o'] }, 'allowed'],
  [
    'replica that does not name it',
    { separate: ['pay'], starter: undefined },
    ['unavailable', undefined],
  ],
])('approval by the starter of the execution, %s: %j', async (_, given, expected) => {
  expect(await gate(given)).toEqual([expected, expected])
})

test.each([
  ['another subject', { subject: 'boss' }],
  ['the same subject of another issuer', { issuer: 'https://issuer' }],
])('approval with separate_approver by %s: allowed', async (_, by) => {
  const given = { by, separate: ['pay'], protected_namespaces: ['*'] }
  expect(await gate(given)).toEqual(['allowed', 'allowed'])
})
