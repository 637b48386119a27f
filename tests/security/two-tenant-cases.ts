import { hourly } from './invalid-schedule-cases.ts'

/** Names of the objects of tenant `one`; each contains `secret`. */
export const THEIRS = {
  namespace: 'one',
  workflow_name: 'secret-plan',
  schedule: 'secret-schedule',
  call: 'secret-call',
  secret: 'secret-name',
  role: 'secret-role',
  subject: 'secret-subject',
}

/** Stands for the id of the execution of tenant `one` in paths, bodies and responses. */
export const ID = 'EXECUTION-ID'

/** Values of path parameters; `{name}` is another kind of object under each prefix. */
const PARAMS: Record<string, string> = {
  namespace: THEIRS.namespace,
  workflow_name: THEIRS.workflow_name,
  execution_id: ID,
  nested_id: ID,
  other_id: ID,
  schedule_id: THEIRS.schedule,
  task_call_id: THEIRS.call,
  task_name: 'secret-task',
  subject: THEIRS.subject,
  role_name: THEIRS.role,
  key_name: 'k',
  session_id: 'A'.repeat(43),
  view_name: 'secret-view',
  version: '1',
  a: '1',
  b: '1',
  mode: 'async',
}
const NAMES: [prefix: string, name: string][] = [
  ['/admin/secrets', THEIRS.secret],
  ['/admin/configs', THEIRS.secret],
  ['/admin/roles', THEIRS.role],
  ['/admin/worker-tokens', 'secret-token'],
  ['/workers', 'w1'],
]

function fillPath(path: string): string {
  return path.replace(/{(\w+)}/g, (_, name: string) => {
    const value = PARAMS[name] ?? NAMES.find(([prefix]) => name === 'name' && path.startsWith(prefix))?.[1]
    if (value === undefined) throw new Error(`no value for {${name}} in ${path}`)
    return value
  })
}

export interface Operation {
  body?: unknown
  /** Further forms of the request: a query, or another path. */
  also?: string[]
  /** Reason why the operation is not compared. */
  exempt?: string
}

const role = { name: THEIRS.role, permissions: ['workflow:one:*'] }
const remarks = { reason: 'x' }
const held: Operation = { body: {} }
const workflowPath = `/workflows/${THEIRS.namespace}/${THEIRS.workflow_name}`

/** A range of time that ends after the test. */
const RANGE = '&from=2026-01-01T00:00:00Z&to=2046-01-01T00:00:00Z&step=31536000'

/**
 * Every operation of docs/openapi.json, as tenant `two` tries it for the objects of tenant `one`. An
 * operation that is not listed fails the test: decide what it may tell another tenant.
 */
export const OPERATIONS: Record<string, Operation> = {
  'GET /admin/audit': { also: [`?object=workflow:one/${THEIRS.workflow_name}`] },
  'GET /admin/audit/head': {},
  'GET /admin/audit/checkpoints': {},
  'GET /admin/audit/keys': {},
  'GET /admin/configs': {},
  'POST /admin/configs': { body: { name: THEIRS.secret, value: 1 } },
  'POST /admin/configs/batch': { body: [THEIRS.secret] },
  'DELETE /admin/configs/{name}': {},
  'GET /admin/configs/{name}': {},
  'GET /admin/configs/{name}/uses': {},
  'POST /admin/principals': { body: { type: 'user', subject: THEIRS.subject, roles: [] } },
  'GET /admin/principals': {},
  'DELETE /admin/principals/{subject}': {},
  'GET /admin/principals/{subject}': {},
  'PATCH /admin/principals/{subject}': { body: { display_name: 'x' } },
  'POST /admin/principals/{subject}/disable': {},
  'POST /admin/principals/{subject}/enable': {},
  'POST /admin/principals/{subject}/keys': { body: { name: 'k' } },
  'GET /admin/principals/{subject}/keys': {},
  'DELETE /admin/principals/{subject}/keys/{key_name}': {},
  'POST /admin/principals/{subject}/roles': { body: { role: 'admin' } },
  'DELETE /admin/principals/{subject}/roles/{role_name}': {},
  'POST /admin/roles': { body: role },
  'GET /admin/roles': {},
  'DELETE /admin/roles/{name}': {},
  'GET /admin/roles/{name}': {},
  'PATCH /admin/roles/{name}': { body: { add_permissions: ['*'] } },
  'POST /admin/roles/{name}/clone': { body: { new_name: 'copy' } },
  'POST /admin/roles/{name}/simulate': { body: { add_permissions: ['*'] } },
  'GET /admin/secrets': {},
  'POST /admin/secrets': { body: { name: THEIRS.secret, value: 1 } },
  'POST /admin/secrets/batch': { body: [THEIRS.secret] },
  'POST /admin/secrets/rotate-key': {},
  'DELETE /admin/secrets/{name}': {},
  'GET /admin/secrets/{name}': {},
  'GET /admin/secrets/{name}/uses': {},
  'POST /admin/worker-tokens': { body: { name: 'secret-token', namespaces: ['one'] } },
  'GET /admin/worker-tokens': {},
  'DELETE /admin/worker-tokens/{name}': {},
  'GET /approvals': {
    also: ['?status=all', `?execution_id=${'f'.repeat(32)}`, '?workflow_namespace=one', '?limit=1'],
  },
  'GET /auth/permissions': {
    exempt: 'by the contract it lists the workflows that exist and what they require',
  },
  'POST /auth/check': { body: { permissions: [`execution:${ID}:read`, `workflow:one:${THEIRS.workflow_name}:read`] } },
  'POST /auth/test-token': { body: { token: 'x' } },
  'POST /console/session': { exempt: 'only the console may call it; programs are refused' },
  'DELETE /console/session': { exempt: 'only the console may call it; programs are refused' },
  'GET /console/sessions': {},
  'GET /console/sign-in': {},
  'DELETE /console/sessions/{session_id}': {
    exempt: 'sessions belong to a principal; services/gateway/test/console-sessions.test.ts tries those of another',
  },
  'GET /docs': {},
  'GET /events/stream': { also: ['?topics=executions,workers,schedules,approvals', '?filter=namespace%3Done'] },
  'GET /executions': {
    also: [
      ...['?namespace=one', `?workflow_name=${THEIRS.workflow_name}`, '?state=running', '?limit=1'],
      ...[`?id=${ID}`, `?parent_id=${ID}`, '?worker_name=w1', '?created_by=secret-subject'],
      ...['?sort=finished', '?tags=order=secret', '?exclude_state=completed', '?created_after=2020-01-01T00:00:00Z'],
      `?workflow_name=${THEIRS.workflow_name}&payload=input.a=secret`,
    ],
  },
  'GET /executions/{execution_id}': { also: ['?detailed=true', '?mode=stream'] },
  'GET /executions/{execution_id}/approvals': {},
  'GET /executions/{execution_id}/approvals/{task_call_id}': {},
  'POST /executions/{execution_id}/approvals/{task_call_id}/approve': { body: remarks },
  'POST /executions/{execution_id}/approvals/{task_call_id}/reject': { body: remarks },
  'POST /executions/{execution_id}/authorize/{task_name}': { body: { approved: true } },
  'GET /executions/{execution_id}/diff/{other_id}': {},
  'GET /executions/{execution_id}/events': { also: ['?detailed=true', '?logs=true'] },
  'GET /executions/{execution_id}/error': {},
  'GET /executions/{execution_id}/explain': {},
  'POST /executions/{execution_id}/fork': { body: { after_seq: 0, dry_run: true } },
  'GET /executions/{execution_id}/input': {},
  'GET /executions/{execution_id}/log': { also: ['?before=9', '?payloads=full'] },
  'GET /executions/{execution_id}/logs': { also: ['?level=info', '?after=1'] },
  'GET /executions/{execution_id}/output': {},
  'POST /executions/{execution_id}/rerun': { body: { input: 1 } },
  'GET /executions/{execution_id}/timeline': {},
  'POST /executions/bulk': {
    body: { filter: { workflow_name: THEIRS.workflow_name }, action: 'cancel', dry_run: true },
  },
  'POST /demo/crash-worker': {
    exempt: 'has no object; 404 with authentication on (services/gateway/test/demo.test.ts)',
  },
  'GET /executions/bulk/{bulk_id}': {
    exempt: 'progress belongs to a caller; services/gateway/test/bulk-progress.test.ts tries another one',
  },
  'GET /executions/stats': {
    also: ['?group=workflow', '?namespace=one', '?group=worker'].map((query) => `${query}${RANGE}`),
  },
  'GET /health': {},
  'GET /me': {},
  'GET /me/views': {},
  'PUT /me/views/{view_name}': {
    exempt: 'views belong to a principal; services/identity/test/views.test.ts tries those of another',
  },
  'DELETE /me/views/{view_name}': { exempt: 'likewise' },
  'GET /namespaces': {},
  'GET /openapi.json': {},
  'GET /queue': {},
  'GET /ready': {},
  'POST /schedules': {
    body: {
      ...{ name: 'new', workflow_name: `one/${THEIRS.workflow_name}`, schedule_config: hourly },
    },
  },
  'GET /schedules': { also: ['?active_only=false', `?workflow_name=one/${THEIRS.workflow_name}`] },
  'GET /schedules/forecast': { also: ['?hours=48'] },
  'DELETE /schedules/{schedule_id}': {},
  'GET /schedules/{schedule_id}': {},
  'PUT /schedules/{schedule_id}': { body: { input_data: 'x' } },
  'GET /schedules/{schedule_id}/history': {},
  'GET /schedules/{schedule_id}/next': {},
  'POST /schedules/{schedule_id}/pause': {},
  'POST /schedules/{schedule_id}/resume': {},
  'GET /workers': { also: ['?status=online'] },
  'POST /workers/register': { exempt: 'it takes the bootstrap token, which no tenant has' },
  'GET /workers/{name}': {},
  'GET /workers/{name}/executions': { also: ['?limit=1', '?namespace=one'] },
  'GET /workers/{name}/history': { also: [`?x=${RANGE}`] },
  'POST /workers/{name}/approvals/{execution_id}': {
    body: { task_call_id: THEIRS.call, task_name: 'secret-task' },
  },
  'GET /workers/{name}/approvals/{execution_id}/{task_call_id}': {},
  'POST /workers/{name}/checkpoint/{execution_id}': held,
  'POST /workers/{name}/checkpoints': { body: [] },
  'POST /workers/{name}/claim/{execution_id}': {},
  'GET /workers/{name}/connect': {},
  'POST /workers/{name}/logs/{execution_id}': { body: { first: 0, lines: [] } },
  'POST /workers/{name}/nested/{execution_id}/{nested_id}/cancel': {},
  'POST /workers/{name}/pong': held,
  'POST /workers/{name}/progress/{execution_id}': held,
  'POST /workers/{name}/release/{execution_id}': {},
  'DELETE /workers/{name}/session': {},
  'POST /workers/{name}/secrets/batch': { body: { execution_id: ID, names: [THEIRS.secret] } },
  'GET /workflows': { also: ['?namespace=one'] },
  'POST /workflows': { exempt: 'a form: tried by the test itself' },
  'DELETE /workflows/{namespace}/{workflow_name}': { also: ['?version=1'] },
  'GET /workflows/{namespace}/{workflow_name}': {},
  'GET /workflows/{namespace}/{workflow_name}/cancel/{execution_id}': {
    also: ['?detailed=true', '?mode=sync', `/workflows/two/own/cancel/${ID}`],
  },
  'GET /workflows/{namespace}/{workflow_name}/configs': {},
  'GET /workflows/{namespace}/{workflow_name}/executions': { also: ['?state=running'] },
  'POST /workflows/{namespace}/{workflow_name}/resume/{execution_id}/{mode}': {
    also: ['sync', 'stream'].flatMap((mode) => [`${workflowPath}/resume/${ID}/${mode}`, `/workflows/two/own/resume/${ID}/${mode}`]),
  },
  'POST /workflows/{namespace}/{workflow_name}/run/{mode}': {
    also: ['?version=1', `${workflowPath}/run/sync`, `${workflowPath}/run/stream`],
  },
  'GET /workflows/{namespace}/{workflow_name}/status/{execution_id}': {
    also: ['?detailed=true', `/workflows/two/own/status/${ID}`],
  },
  'GET /workflows/{namespace}/{workflow_name}/versions': {},
  'GET /workflows/{namespace}/{workflow_name}/versions/{a}/diff/{b}': {},
  'GET /workflows/{namespace}/{workflow_name}/versions/{version}': {},
}

/** All requests of an operation, as `METHOD /path`. */
export function requestsOf(operation: string): string[] {
  const [method, path = ''] = operation.split(' ')
  const filled = fillPath(path)
  const { also = [] } = OPERATIONS[operation] ?? {}
  const forms = ['', ...also].map((form) => (form.startsWith('/') ? form : filled + form))
  return forms.map((form) => `${method} ${form}`)
}
