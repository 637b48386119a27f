import type {
  ChangedRow,
  ExecutionRow,
  ListChangesRequest,
} from '@windlass/proto/windlass/executions/v1/history'
import { ExecutionsChanged } from '@windlass/proto/windlass/signals/v1/signals'
import { invalidateCaches } from '@windlass/runtime/cache-generation'
import { openRedis } from '@windlass/runtime/redis/redis'
import { testUrl } from '@windlass/testkit/database'
import { expect, onTestFinished } from 'vitest'
import type { framesOf } from './frames.ts'
import { type FakeServices, startGateway } from './gateway-fixture.ts'
import { serviceAccount } from './service-account.ts'

const KEY = `wk_${'0'.repeat(16)}.${'A'.repeat(43)}`
const bearer = { headers: { authorization: `Bearer ${KEY}` } }
export const NOW = Date.parse('2026-01-02T03:04:05Z')
/** Fifteen seconds before: a change may be committed after a read and dated before it. */
export const CURSOR = String(NOW - 15_000)

export const rowOf = (execution_id: string, changes: Partial<ExecutionRow> = {}): ExecutionRow => ({
  ...{ execution_id, workflow_id: execution_id, workflow_namespace: 'team' },
  ...{ workflow_name: 'order', workflow_version: 1, state: 'RUNNING', worker_name: 'w1' },
  ...{ created_at: new Date(NOW - 60_000), updated_at: new Date(NOW), attempts: 1 },
  ...{ queued_at: undefined, started_at: undefined, finished_at: undefined, tags: {} },
  ...{ created_by: 'ann', schedule_id: '', parent_id: '', last_seq: 1, revision: 1 },
  ...changes,
})

/** A gateway whose service `history` has the rows that a test puts there. */
export async function listSetup(scripts: FakeServices = {}, env: Record<string, string> = {}) {
  const rows = new Map<string, ChangedRow>()
  const requests: ListChangesRequest[] = []
  const redis = openRedis(testUrl('TEST_REDIS_URL'))
  onTestFinished(() => redis.disconnect())
  const state = {
    ...{ cut: false, permissions: ['*'], isFailing: false },
    principal: serviceAccount(),
  }
  const made = await startGateway(
    {
      keys: {
        find: async () => ({
          account: { principal: state.principal, permissions: state.permissions },
          expires_at: undefined,
        }),
      },
      history: {
        async listChanges(request) {
          requests.push(request)
          if (state.isFailing) throw new Error('the database is unavailable')
          const asked = request.execution_ids.flatMap((id) => rows.get(id) ?? [])
          const found = request.since ? [...rows.values()] : asked
          const listed = found.slice(0, request.limit)
          return { rows: listed, total: found.length, cut: state.cut, as_of: new Date(NOW) }
        },
      },
      ...scripts,
    },
    { SVC_SECURITY__AUTH__ENABLED: 'true', SVC_WORKERS__HEARTBEAT_INTERVAL: '0.2', ...env },
  )
  /** Stores rows and signals them together, as one commit does. */
  const change = (...changed: ChangedRow[]) => {
    for (const each of changed) rows.set(each.row?.execution_id ?? '', each)
    const execution_ids = changed.flatMap(({ row }) => row?.execution_id ?? [])
    const signal = ExecutionsChanged.encode({ execution_ids }).finish()
    made.bus.publishBestEffort('executions.batch.events.changed', signal)
  }
  const follow = async (query = '', headers = {}) =>
    made.call('GET', `/events/stream${query}`, { headers: { ...bearer.headers, ...headers } })
  const grant = async (...granted: string[]) => {
    state.permissions = granted
    await invalidateCaches(redis, 'auth')
  }
  return { ...made, rows, requests, state, change, follow, grant }
}

type Frames = ReturnType<typeof framesOf>

/** The next frames of these events. */
export async function take(frames: Frames, count: number) {
  const taken = []
  for (let i = 0; i < count; i++) {
    const { value } = await frames.next()
    taken.push(value ? [value.event, value.data] : ['end'])
  }
  return taken
}

export const asRow = (id: string, revision: number, more = {}) => [
  'executions',
  { id, revision, row: expect.objectContaining({ execution_id: id, revision, ...more }) },
]
