import { expect, test } from 'vitest'
import { callTool, connectOverHttp } from './mcp-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const CALL = 'pay/1 ü'
const ROUTE = `/executions/${ID}/approvals/${encodeURIComponent(CALL)}`
const call = { execution_id: ID, task_call_id: CALL }
const RECORD = '{"status":"approved", "execution_state":"RESUMING"}'

test('list_approvals: lists the pending ones, or sends every filter', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  await client.listTools() // from here on the client checks results against the output schemas
  const page = '"approvals":[{"a": 1.0}],"total":1,"limit":20,"offset":0,"auth_filtered":true'
  api.refuseAll({ status: 200, body: `{${page}}` })
  const { text } = await callTool(client, 'list_approvals')
  expect(text).toBe(`{"success":true,${page}}`)
  const filters = {
    ...{ status: 'all', workflow_namespace: 'team', workflow_name: 'pay', task_name: 'send' },
    ...{ age_min: 'PT30M', execution_id: ID, limit: '5', offset: '10' },
  }
  await callTool(client, 'list_approvals', { ...filters, limit: 5, offset: 10 })
  expect(api.seen.map(({ route }) => route)).toEqual([
    'GET /approvals?status=pending&limit=20&offset=0',
    `GET /approvals?${new URLSearchParams(filters)}`,
  ])
})

test.each<[string, object, string, string]>([
  ['get_approval', call, `GET ${ROUTE}`, ''],
  ['approve_call', call, `POST ${ROUTE}/approve`, '{}'],
  [
    ...(['approve_call', { ...call, always: true, reason: 'a "b"\n' }] as const),
    ...([`POST ${ROUTE}/approve`, '{"reason":"a \\"b\\"\\n","always":true}'] as const),
  ],
  ['reject_call', { ...call, reason: 'no' }, `POST ${ROUTE}/reject`, '{"reason":"no"}'],
])('%s %j: sends %s %s and returns the record', async (tool, args, route, body) => {
  const { api, connect } = await connectOverHttp()
  const client = await connect('Bearer a.1')
  await client.listTools()
  api.answers.set(route, { body: RECORD })
  const { text } = await callTool(client, tool, args as Record<string, unknown>)
  expect(text).toBe(`{"success":true,"approval":${RECORD}}`)
  expect(api.seen).toMatchObject([{ route, body, headers: { authorization: 'Bearer a.1' } }])
})

test('a call that is unknown, forbidden or decided: the refusal of the route', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  const refusals: [status: number, body: string, error: string][] = [
    [
      ...([404, '{"detail":{"error":"not_found"}}'] as const),
      `Approval of call '${CALL}' of execution '${ID}' not found`,
    ],
    [403, '{"detail":{"error":"forbidden"}}', 'HTTP error: 403 - {"detail":{"error":"forbidden"}}'],
    [
      ...([409, '{"error":"already_decided","current_status":"rejected"}'] as const),
      'HTTP error: 409 - {"error":"already_decided","current_status":"rejected"}',
    ],
  ]
  for (const [status, body, error] of refusals)
    for (const verb of ['approve', 'reject']) {
      api.answers.set(`POST ${ROUTE}/${verb}`, { status, body })
      const { text, isError } = await callTool(client, `${verb}_call`, call)
      expect(JSON.parse(text)).toEqual({ success: false, error })
      expect(isError).toBe(false)
    }
})

test('a call id with control characters, or a malformed execution id: refused, and no request is sent', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  for (const args of [
    ...['', '..', 'a\u001b', 'x'.repeat(257)].map((task_call_id) => ({ ...call, task_call_id })),
    ...['', '..', 'a/b', '?x='].map((execution_id) => ({ ...call, execution_id })),
  ])
    for (const tool of ['get_approval', 'approve_call', 'reject_call']) {
      const { text } = await callTool(client, tool, args)
      expect(JSON.parse(text).error, JSON.stringify(args)).toMatch(/^Invalid /)
    }
  for (const execution_id of ['..', 'a/b'])
    expect((await callTool(client, 'list_approvals', { execution_id })).text).toContain('Invalid ')
  expect(api.seen).toEqual([])
})
