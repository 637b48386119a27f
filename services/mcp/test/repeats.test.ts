import { expect, test } from 'vitest'
import { callTool, connectOverHttp } from './mcp-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const SUMMARY = `{"workflow_id":"${ID}","workflow_namespace":"default","workflow_name":"report","execution_id":"${ID}","input":{"n": 9007199254740993},"output":null,"state":"SCHEDULED","current_worker":""}`
const again = { execution_id: ID, input_data: '{"n": 1.0}', version: 3 }
const DIFF =
  '"same_workflow":true,"same_version":false,"a":{},"b":{},"input":{},"output":{},"calls":{}'

const cases: [
  tool: string,
  args: object,
  route: string,
  body: string,
  answer: string,
  result: string,
][] = [
  ['rerun_execution', { execution_id: ID }, `POST /executions/${ID}/rerun`, '{}', SUMMARY, SUMMARY],
  [
    ...(['rerun_execution', { ...again, priority: 0 }] as const),
    `POST /executions/${ID}/rerun?priority=0`,
    ...(['{"input":{"n": 1.0},"version":3}', SUMMARY, SUMMARY] as const),
  ],
  [
    ...(['fork_execution', { ...again, after_seq: 5, priority: 9 }] as const),
    `POST /executions/${ID}/fork?priority=9`,
    '{"after_seq":5,"dry_run":false,"input":{"n": 1.0},"version":3}',
    '{"plan":{"calls":1},"execution":null}',
    '{"success":true,"plan":{"calls":1},"execution":null}',
  ],
  [
    ...(['diff_executions', { execution_id: ID, other_execution_id: ID }] as const),
    ...([`GET /executions/${ID}/diff/${ID}`, '', `{${DIFF}}`, `{"success":true,${DIFF}}`] as const),
  ],
]

test('rerun_execution, fork_execution, diff_executions: send what is given as it is', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  await client.listTools()
  for (const [tool, args, route, body, answer, result] of cases) {
    api.answers.set(route, { body: answer })
    const { text } = await callTool(client, tool, args as Record<string, unknown>)
    expect(text, tool).toBe(result)
    expect(api.seen.at(-1)).toMatchObject({ route, body })
  }
})
