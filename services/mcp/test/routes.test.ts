import { expect, test } from 'vitest'
import { callTool, connectOverHttp } from './mcp-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const SUMMARY = `{"workflow_id":"${ID}","workflow_namespace":"default","workflow_name":"report","execution_id":"${ID}","input":{"n": 9007199254740993},"output":null,"state":"COMPLETED","current_worker":""}`
const ANSWER = `{"worker_name":"w1",${SUMMARY.slice(1)}`
const wf = { workflow_name: 'report' }
const ex = { ...wf, execution_id: ID }
const PAGE = '"executions":[{"execution_id":"x"}],"total":9,"limit":50,"offset":0'

const cases: [string, object, string, string, string][] = [
  [
    'list_workflows',
    {},
    'GET /workflows',
    '[{"a":1},{"b":2}]',
    '{"success":true,"workflows":[{"a":1},{"b":2}],"count":2}',
  ],
  ['list_namespaces', {}, 'GET /namespaces', '[]', '{"success":true,"namespaces":[],"count":0}'],
  [
    'get_workflow_details',
    wf,
    'GET /workflows/default/report',
    '{"v":1}',
    '{"success":true,"workflow":{"v":1}}',
  ],
  [
    'list_workflow_versions',
    { ...wf, workflow_namespace: 'team' },
    'GET /workflows/team/report/versions',
    '[1]',
    '{"success":true,"versions":[1],"count":1}',
  ],
  [
    'get_workflow_version',
    { ...wf, version: 2 },
    'GET /workflows/default/report/versions/2',
    '{}',
    '{"success":true,"workflow":{}}',
  ],
  [
    'delete_workflow',
    wf,
    'DELETE /workflows/default/report',
    '{"status":"success","message":"gone"}',
    '{"success":true,"message":"gone"}',
  ],
  [
    'delete_workflow',
    { ...wf, version: 0 },
    'DELETE /workflows/default/report?version=0',
    '{"message":"gone"}',
    '{"success":true,"message":"gone"}',
  ],
  [
    'execute_workflow_async',
    { ...wf, input_data: '1' },
    'POST /workflows/default/report/run/async',
    ANSWER,
    SUMMARY,
  ],
  [
    'execute_workflow_sync',
    { ...wf, input_data: '1' },
    'POST /workflows/default/report/run/sync?wait_for=paused&timeout=290',
    ANSWER,
    SUMMARY,
  ],
  [
    'execute_workflow_sync',
    { ...wf, input_data: '1', detailed: true, priority: 0, tags: 'order=7,env=prod' },
    'POST /workflows/default/report/run/sync?wait_for=paused&timeout=290&detailed=true&priority=0&tags=order%3D7%2Cenv%3Dprod',
    '{"events":[]}',
    '{"events":[]}',
  ],
  [
    'resume_workflow_async',
    { ...ex, input_data: '1' },
    `POST /workflows/default/report/resume/${ID}/async`,
    ANSWER,
    SUMMARY,
  ],
  [
    'resume_workflow_sync',
    { ...ex, input_data: '1' },
    `POST /workflows/default/report/resume/${ID}/sync?wait_for=paused&timeout=290`,
    ANSWER,
    SUMMARY,
  ],
  [
    'cancel_execution',
    ex,
    `GET /workflows/default/report/cancel/${ID}?mode=async`,
    '{"s": 1.0}',
    `{"success":true,"execution_id":"${ID}","workflow_name":"report","cancellation_mode":"async","status":{"s": 1.0}}`,
  ],
  ['get_execution_status', ex, `GET /workflows/default/report/status/${ID}`, ANSWER, SUMMARY],
  [
    'get_execution',
    { execution_id: ID, detailed: true },
    `GET /executions/${ID}?detailed=true`,
    '{"events":[1]}',
    '{"events":[1]}',
  ],
  [
    'list_executions',
    {},
    'GET /executions?limit=50&offset=0',
    `{${PAGE}}`,
    `{"success":true,${PAGE}}`,
  ],
  [
    'list_executions',
    { workflow_name: 'a/b', state: 'failed', limit: 5, offset: 10 },
    'GET /executions?workflow_name=a%2Fb&state=failed&limit=5&offset=10',
    `{${PAGE}}`,
    `{"success":true,${PAGE}}`,
  ],
  [
    'list_workflow_executions',
    wf,
    'GET /workflows/default/report/executions?limit=50&offset=0',
    `{${PAGE}}`,
    `{"success":true,"workflow_name":"report",${PAGE}}`,
  ],
  ['list_workers', {}, 'GET /workers', '[1,2,3]', '{"success":true,"workers":[1,2,3],"count":3}'],
  [
    'get_worker',
    { worker_name: 'w1' },
    'GET /workers/w1',
    '{"name":"w1"}',
    '{"success":true,"worker":{"name":"w1"}}',
  ],
  [
    'list_worker_tokens',
    {},
    'GET /admin/worker-tokens',
    '[1]',
    '{"success":true,"worker_tokens":[1],"count":1}',
  ],
  [
    'revoke_worker_token',
    { name: 'team-a' },
    'DELETE /admin/worker-tokens/team-a',
    '{"status":"success","message":"gone"}',
    '{"success":true,"message":"gone"}',
  ],
  [
    'list_schedules',
    {},
    'GET /schedules?active_only=true',
    '[1]',
    '{"success":true,"schedules":[1],"count":1}',
  ],
  [
    'list_schedules',
    { active_only: false, limit: 2, offset: 1 },
    'GET /schedules?active_only=false&limit=2&offset=1',
    '[]',
    '{"success":true,"schedules":[],"count":0}',
  ],
  [
    'get_schedule',
    { schedule_id: 'nightly' },
    'GET /schedules/nightly',
    '{}',
    '{"success":true,"schedule":{}}',
  ],
  [
    'pause_schedule',
    { schedule_id: 'nightly' },
    'POST /schedules/nightly/pause',
    '{}',
    '{"success":true,"schedule":{}}',
  ],
  [
    'resume_schedule',
    { schedule_id: 'nightly' },
    'POST /schedules/nightly/resume',
    '{}',
    '{"success":true,"schedule":{}}',
  ],
  [
    'delete_schedule',
    { schedule_id: 'nightly' },
    'DELETE /schedules/nightly',
    '{"message":"gone"}',
    '{"success":true,"message":"gone"}',
  ],
  [
    'get_schedule_history',
    { schedule_id: 'a b' },
    'GET /schedules/a%20b/history?limit=50&offset=0',
    '{"schedule_id":"x","workflow_name":"w","entries":[],"total":0,"limit":50,"offset":0}',
    '{"success":true,"schedule_id":"x","workflow_name":"w","entries":[],"total":0,"limit":50,"offset":0}',
  ],
  [
    'health_check',
    {},
    'GET /health',
    '{"status":"healthy"}',
    '{"success":true,"health":{"status":"healthy"}}',
  ],
]

test('create_worker_token: sends name, limits and restrictions, and returns the token', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  api.answers.set('POST /admin/worker-tokens', { body: '{"token":"wt_1"}' })
  const args = { name: 'team-a', expires_in_days: 30, restrictions: '{"namespaces":["a"]}' }
  const { text } = await callTool(client, 'create_worker_token', args)
  expect(text).toBe('{"success":true,"token":"wt_1"}')
  expect(api.seen.at(-1)?.body).toBe(
    '{"name":"team-a","expires_in_days":30,"restrictions":{"namespaces":["a"]}}',
  )
  const invalid = await callTool(client, 'create_worker_token', { name: 'a/b' })
  expect(invalid.text).toContain("Invalid worker token name 'a/b'")
})

test('each tool: calls its route and returns the answer in its form, as text and structured', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  await client.listTools() // from here on the client checks results against the output schemas
  for (const [name, args, route, body, expected] of cases) {
    api.answers.set(route, { body })
    const { text, structured } = await callTool(client, name, args as Record<string, unknown>)
    expect(text, name).toBe(expected)
    expect(structured, name).toEqual(JSON.parse(expected))
    expect(api.seen.at(-1)?.route).toBe(route)
  }
})
