import type { ExecutionRow } from '@windlass/proto/windlass/executions/v1/history'
import { expect, test } from 'vitest'
import { startGateway, workflow } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const bearerOf = (digit: string) => ({
  authorization: `Bearer wk_${digit.repeat(16)}.${'A'.repeat(43)}`,
})
const LIMITED = ['execution:default:*:read', 'workflow:default:mine:run']

const rowOf = (execution_id: string, workflow_name: string): ExecutionRow => ({
  ...{ execution_id, workflow_id: '0'.repeat(32), workflow_namespace: 'default', workflow_name },
  ...{ state: 'RUNNING', workflow_version: 1, worker_name: '', created_by: '', attempts: 1 },
  ...{ schedule_id: '', parent_id: '', tags: {}, revision: 3, last_seq: 9 },
  ...{ created_at: new Date(0), updated_at: new Date(0), queued_at: undefined },
  ...{ started_at: undefined, finished_at: undefined },
})

test('a bulk act on workflows that the caller may read but not run: counted, and left as they are', async () => {
  let rows: ExecutionRow[] = []
  const { json, executions } = await startGateway(
    {
      keys: {
        // The first digit of a key names its rights: an account is cached under its key.
        find: async ({ prefix }) => ({
          account: {
            principal: serviceAccount(),
            permissions: prefix.startsWith('wk_0') ? ['*'] : LIMITED,
          },
          expires_at: undefined,
        }),
      },
      catalog: { resolve: async ({ name }) => workflow({ name }) },
      history: {
        search: async () => ({
          ...{ rows, total: rows.length, total_exact: true, next_cursor: '', cut: false },
        }),
      },
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true' },
  )
  for (const name of ['mine', 'theirs']) {
    await json('POST', `/workflows/default/${name}/run/async`, 1, bearerOf('0'))
    rows = [...rows, rowOf(executions.last, name)]
  }
  const [mine, theirs] = rows.map(({ execution_id }) => execution_id)
  const before = executions.commands.length
  const bulk = (body: object) =>
    json('POST', '/executions/bulk', { filter: { namespace: 'default' }, ...body }, bearerOf('1'))
  const preview = await bulk({ action: 'cancel', dry_run: true })
  expect(await preview.json()).toMatchObject({ count: 2, forbidden: 1 })
  const text = await (await bulk({ action: 'cancel', expect: 2 })).text()
  const end = JSON.parse(/event: end\ndata: (.*)/.exec(text)?.[1] ?? '{}')
  expect(end).toMatchObject({
    ...{ total: 2, done: 1, failed: 1 },
    failures: [{ execution_id: theirs, reason: 'Authorization denied' }],
  })
  const changed = executions.commands.slice(before)
  expect(changed.map(({ execution_id }) => execution_id)).toEqual([mine])
})
