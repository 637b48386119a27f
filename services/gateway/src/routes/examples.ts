/** Examples of answers, for the OpenAPI document; a test checks them against their schemas. */

const ID = '0199f3c2a1b47c3e8d5f6a7b8c9d0e1f'
const OTHER_ID = '0199f3c2a1b47c3e8d5f6a7b8c9d0e20'
const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const CREATED = '2026-11-23T08:00:00.000Z'
const ENDED = '2026-11-23T08:00:04.250Z'

export const ME = {
  ...{ subject: 'ann', issuer: 'https://idp.example', roles: ['operator'] },
  permissions: ['execution:*', 'workflow:team:*'],
  server_version: '0.1.0',
  features: { authentication: true, oidc: true, demo: false },
  limits: {
    ...{ max_body_bytes: 16_777_216, max_json_depth: 512, max_workflow_upload_bytes: 1_048_576 },
    ...{ max_page: 1_000, max_permission_checks: 200 },
  },
}

const ROW = {
  ...{ execution_id: ID, workflow_id: OTHER_ID, workflow_namespace: 'team' },
  ...{ workflow_name: 'order', state: 'FAILED', worker_name: 'worker-1' },
  ...{ created_at: CREATED, updated_at: ENDED, workflow_version: 3, queued_at: null },
  ...{ started_at: '2026-11-23T08:00:00.120Z', finished_at: ENDED, attempts: 1 },
  ...{ created_by: 'ann', schedule_id: null, parent_id: null, origin_id: null, origin_seq: null },
  ...{ input_bytes: 214, output_bytes: 98, error: 'ValueError: no stock' },
  ...{ tags: { team: 'billing' }, revision: 9 },
}

export const EXECUTION_LIST = {
  ...{ executions: [ROW], total: 10_000, total_exact: false },
  ...{ limit: 50, offset: 0, next_cursor: 'WzEsMF0', cut: false },
}

export const EXECUTION = {
  ...{ workflow_id: OTHER_ID, workflow_namespace: 'team', workflow_name: 'order' },
  ...{ execution_id: ID, input: { order: 17 }, output: null, state: 'SCHEDULED' },
  ...{ current_worker: '', worker_name: '' },
}

export const LOG_PAGE = {
  entries: [
    {
      ...{ seq: 4, id: 'e-4', type: 'TASK_COMPLETED', source_id: 'charge_1', name: 'charge' },
      ...{ time: ENDED, value_bytes: 15, value: { charged: true } },
    },
  ],
  ...{ last_seq: 6, more_before: true, more_after: true },
}

export const TIMELINE = {
  ...{ execution_id: ID, base: CREATED, state: 'FAILED', last_seq: 6, cut: false },
  attempts: [
    {
      ...{ worker: 'worker-1', seq: 1, queued: 0, scheduled: 90, claimed: 120, started: 130 },
      ...{ ended: 4_250, end: 'failed' },
    },
  ],
  tasks: ['reserve', 'charge'],
  calls: {
    ...{ task: [0, 1], seq: [2, 2], start: [140, 900], duration: [880, 3_200], state: 'cf' },
    ...{ tries: [[1, 2]], cached: [], compensated: [], parent: [] },
  },
}

const PERCENTILES = { p50: 0.2, p95: 1.4, p99: 3.1 }

export const STATS = {
  ...{ from: CREATED, to: '2026-11-23T08:01:00.000Z', step: 60 },
  buckets: [
    {
      ...{ group: 'team/order', at: CREATED, started: 120, ended: 118, failed: 2 },
      ...{ queue_wait: PERCENTILES, run_time: PERCENTILES },
    },
  ],
  cut: false,
}

export const QUEUE = {
  queues: [
    {
      requirement_id: OTHER_ID,
      requirement: { packages: ['numpy'], affinity: {}, runner: null, namespace: null },
      ...{ depth: 3, depth_exact: true, oldest: CREATED },
      rates: { created_per_minute: 40, started_per_minute: 38 },
      workers: [{ name: 'worker-1', used: 2, capacity: 4 }],
    },
  ],
  cut: false,
}

const SIDE = {
  ...{ workflow_namespace: 'team', workflow_name: 'order', workflow_version: 3 },
  ...{ created_at: CREATED, queue_wait: 0.12, run_time: 4.13, input_bytes: 214, output_bytes: 98 },
}

export const DIFF = {
  a: { ...SIDE, execution_id: ID, state: 'FAILED', error: 'ValueError: no stock' },
  b: { ...SIDE, execution_id: OTHER_ID, state: 'COMPLETED', error: null },
  ...{ same_workflow: true, same_version: true },
  input: { same: false, members: ['order'] },
  output: { same: false },
  calls: {
    ...{ same: 1, different: 1, only_a: 0, only_b: 0 },
    first: {
      ...{ call_id: 'charge_1', name: 'charge', kind: 'state' as const },
      a: { seq: 4, last_seq: 5, state: 'failed' as const, duration_ms: 3_200 },
      b: { seq: 4, last_seq: 5, state: 'completed' as const, duration_ms: 2_900 },
    },
    cut: false,
  },
}

export const FORK_RESULT = {
  plan: {
    ...{ entries: 4, calls: 1 },
    runs_again: [{ call_id: 'charge_1', name: 'charge', seq: 4 }],
    cut: false,
  },
  execution: null,
}

export const BULK_PREVIEW = { count: 17, forbidden: 0, left_out: 2, sample: [ROW] }

export const BULK_PROGRESS = {
  ...{ id: ID, action: 'cancel' as const, state: 'running' as const },
  ...{ total: 17, done: 9, failed: 1, stopped: false, started_at: CREATED, updated_at: ENDED },
  failures: [{ execution_id: OTHER_ID, reason: 'The execution is being modified; retry.' }],
}

export const SECRET_USES = {
  workflows: [{ namespace: 'team', name: 'order', version: 3 }],
  others: 1,
  last_uses: null,
}

export const CONFIG_USES = {
  workflows: [
    {
      ...{ namespace: 'team', name: 'order', version: 3, first_used_at: CREATED },
      ...{ last_used_at: ENDED, last_execution_id: ID },
    },
  ],
  others: 0,
}

export const AUDIT_HEAD = { seq: 1_204, hash: HASH }

export const VIEW = {
  ...{ name: 'failed orders', screen: 'executions' },
  ...{ query: 'state=failed&workflow_name=order', updated_at: CREATED },
  revision: HASH.slice(0, 32),
}

export const CONSOLE_SESSION = {
  ...{ id: 'mJ3kq0T8r5yW2uXz7VbN4cL1pQe6sHdFgKaZoIiYtRw', created_at: CREATED },
  ...{ last_used_at: ENDED, user_agent: 'Mozilla/5.0', current: true },
}
