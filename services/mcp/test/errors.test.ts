import { closedUrl } from '@windlass/testkit/api-fake'
import { expect, test } from 'vitest'
import { callTool, connectOverHttp } from './mcp-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const failure = (error: string) => JSON.stringify({ success: false, error })
const wf = { workflow_name: 'report' }
const run = { ...wf, input_data: '1' }
const ex = { ...wf, execution_id: ID }

test.each<[string, object, string, number, string, string]>([
  [
    'get_workflow_details',
    wf,
    'GET /workflows/default/report',
    404,
    '{}',
    "Workflow 'default/report' not found",
  ],
  [
    'list_workflow_versions',
    wf,
    'GET /workflows/default/report/versions',
    404,
    '{}',
    "Workflow 'default/report' not found",
  ],
  [
    'delete_workflow',
    wf,
    'DELETE /workflows/default/report',
    404,
    '{}',
    "Workflow 'default/report' not found",
  ],
  [
    'get_workflow_version',
    { ...wf, version: 3 },
    'GET /workflows/default/report/versions/3',
    404,
    '{}',
    "Workflow 'default/report' version 3 not found",
  ],
  [
    'execute_workflow_async',
    run,
    'POST /workflows/default/report/run/async',
    404,
    '{}',
    "Workflow 'default/report' not found",
  ],
  [
    'resume_workflow_async',
    { ...run, ...ex },
    `POST /workflows/default/report/resume/${ID}/async`,
    404,
    '{}',
    `Workflow 'default/report' or execution '${ID}' not found`,
  ],
  [
    'resume_workflow_async',
    { ...run, ...ex },
    `POST /workflows/default/report/resume/${ID}/async`,
    400,
    '{"detail":"done"}',
    'Cannot resume execution: {"detail":"done"}',
  ],
  [
    'cancel_execution',
    ex,
    `GET /workflows/default/report/cancel/${ID}?mode=async`,
    400,
    'x',
    'Cannot cancel execution: x',
  ],
  [
    'cancel_execution',
    ex,
    `GET /workflows/default/report/cancel/${ID}?mode=async`,
    404,
    '{}',
    `Execution '${ID}' not found`,
  ],
  [
    'get_execution_status',
    ex,
    `GET /workflows/default/report/status/${ID}`,
    404,
    '{}',
    `Execution '${ID}' not found`,
  ],
  [
    'get_execution',
    { execution_id: ID },
    `GET /executions/${ID}`,
    404,
    '{}',
    `Execution '${ID}' not found`,
  ],
  ['get_worker', { worker_name: 'w' }, 'GET /workers/w', 404, '{}', "Worker 'w' not found"],
  ['get_schedule', { schedule_id: 's' }, 'GET /schedules/s', 404, '{}', "Schedule 's' not found"],
  [
    'create_schedule',
    { workflow_name: 'a/b', name: 'n', schedule_config: '{}' },
    'POST /schedules',
    404,
    '{}',
    "Workflow 'a/b' not found",
  ],
  [
    'create_schedule',
    { workflow_name: 'a/b', name: 'n', schedule_config: '{}' },
    'POST /schedules',
    409,
    '{"detail":"taken"}',
    'HTTP error: 409 - {"detail":"taken"}',
  ],
  [
    'list_workflows',
    {},
    'GET /workflows',
    401,
    '{"detail":"no"}',
    'HTTP error: 401 - {"detail":"no"}',
  ],
  [
    'health_check',
    {},
    'GET /health',
    503,
    '{"status":"unhealthy"}',
    'HTTP error: 503 - {"status":"unhealthy"}',
  ],
  [
    'get_execution',
    { execution_id: ID },
    `GET /executions/${ID}`,
    200,
    '{}',
    "Error retrieving execution: the server's answer has no workflow_id",
  ],
  [
    'list_workflows',
    {},
    'GET /workflows',
    200,
    '<html>',
    'Unexpected error: the answer is not JSON: unexpected character at offset 0',
  ],
])('%s %j, %s answers %i: the error of the contract', async (...row) => {
  const [name, args, route, status, body, error] = row
  const { api, connect } = await connectOverHttp()
  api.answers.set(route, { status, body })
  const { text, isError } = await callTool(await connect(), name, args as Record<string, unknown>)
  expect(text).toBe(failure(error))
  expect(isError).toBe(false)
})

const HOSTILE = ['', '.', '..', '%2e%2e', 'a/b', '?x=', '#', 'x?version=1', 'a\\b', 'a\0']

test('N146: names with characters of paths and queries: refused, and no request is sent', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  const hostile: [string, (text: string) => object][] = [
    ['get_workflow_details', (workflow_name) => ({ workflow_name })],
    ['execute_workflow_sync', (workflow_namespace) => ({ ...run, workflow_namespace })],
    ['cancel_execution', (execution_id) => ({ ...wf, execution_id })],
    ['get_execution', (execution_id) => ({ execution_id })],
    ['get_worker', (worker_name) => ({ worker_name })],
    ['delete_schedule', (schedule_id) => ({ schedule_id })],
  ]
  for (const [name, args] of hostile)
    for (const text of HOSTILE) {
      const answer = await callTool(client, name, args(text) as Record<string, unknown>)
      expect(JSON.parse(answer.text)).toMatchObject({
        success: false,
        error: expect.stringMatching(/^Invalid /),
      })
    }
  expect(api.seen).toEqual([])
})

test.each<[string, object, string]>([
  ['cancel_execution', { ...ex, mode: 'now' }, "Mode must be 'sync' or 'async'"],
  [
    'create_schedule',
    { ...wf, name: 'n', schedule_config: 'daily' },
    'Invalid JSON in schedule_config',
  ],
  [
    'update_schedule',
    { schedule_id: 's', schedule_config: '{' },
    'Invalid JSON in schedule_config',
  ],
  ['update_schedule', { schedule_id: 's' }, 'No update parameters provided'],
  [
    'update_schedule',
    { schedule_id: 's', schedule_config: '', input_data: '' },
    'No update parameters provided',
  ],
])('N149, N152: %s %j: refused with %s, and no request is sent', async (name, args, error) => {
  const { api, connect } = await connectOverHttp()
  const { text } = await callTool(await connect(), name, args as Record<string, unknown>)
  expect(text).toBe(failure(error))
  expect(api.seen).toEqual([])
})

test('N152: wrong arguments: a tool error with the reason, and no request is sent', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  const wrong: [string, Record<string, unknown>, string][] = [
    ['list_workflows', { extra: 1 }, 'extra'],
    ['get_execution', {}, 'execution_id'],
    ['execute_workflow_sync', wf, 'input_data'],
    ['get_workflow_version', { ...wf, version: '1' }, 'version'],
    ['list_executions', { limit: 1.5 }, 'limit'],
    ['get_execution_status', { ...ex, detailed: 'yes' }, 'detailed'],
  ]
  for (const [name, args, field] of wrong) {
    const { text, isError } = await callTool(client, name, args)
    expect(isError, name).toBe(true)
    expect(text).toContain(`Invalid arguments of ${name}: `)
    expect(text).toContain(field)
  }
  expect(api.seen).toEqual([])
})

test('N152: an unknown tool, or a cursor: the protocol error -32602', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  await expect(callTool(client, 'no_such_tool')).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining('Unknown tool: no_such_tool'),
  })
  await expect(callTool(client, 'toString')).rejects.toMatchObject({ code: -32_602 })
  for (const cursor of ['guessed', ''])
    await expect(client.listTools({ cursor })).rejects.toMatchObject({ code: -32_602 })
  expect(api.seen).toEqual([])
})

test('no server: the connection error of each tool', async () => {
  const url = await closedUrl()
  const { connect } = await connectOverHttp({ SVC_MCP__SERVER_URL: url })
  const client = await connect()
  const missing = failure(`Could not connect to Windlass server at ${url}`)
  for (const name of ['list_workflows', 'list_namespaces', 'list_workers', 'health_check'])
    expect((await callTool(client, name)).text).toBe(missing)
  const { text } = await callTool(client, 'execute_workflow_sync', run)
  expect(JSON.parse(text).error).toMatch(/^Error executing workflow: .*ECONNREFUSED/)
})
