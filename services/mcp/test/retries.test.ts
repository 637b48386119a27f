import { expect, test } from 'vitest'
import { callTool, connectOverHttp, connectOverStdio } from './mcp-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'
const SUMMARY = `{"workflow_id":"${ID}","workflow_namespace":"default","workflow_name":"report","execution_id":"${ID}","input":1,"output":null,"state":"SCHEDULED","current_worker":""}`
const wf = { workflow_name: 'report' }
const run = { ...wf, input_data: '1' }
const ex = { execution_id: ID }
const BULK = { action: 'rerun', state: 'failed', dry_run: false, expect: 1 }
const PROGRESS =
  '{"id":"x","action":"a","state":"ended","total":1,"done":1,"failed":0,"stopped":false,"failures":[]}'
const WAIT = '?wait_for=paused&timeout=290'

/** The first answer is a status, each later one a success. */
function failFirst(status: number, body: string) {
  let count = 0
  return () => (++count === 1 ? { status, body: '{"detail":"no"}' } : { body })
}

test.each<[tool: string, args: object, route: string, answer: string]>([
  ['execute_workflow_async', run, '/workflows/default/report/run/async', SUMMARY],
  ['execute_workflow_sync', run, `/workflows/default/report/run/sync${WAIT}`, SUMMARY],
  ['rerun_execution', ex, `/executions/${ID}/rerun`, SUMMARY],
  [
    'fork_execution',
    { ...ex, after_seq: 1 },
    `/executions/${ID}/fork`,
    '{"plan":{},"execution":null}',
  ],
  ['change_executions', BULK, '/executions/bulk', PROGRESS],
])('%s fails with 502: sent again with the same key', async (tool, args, route, answer) => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  api.answers.set(`POST ${route}`, failFirst(502, answer))
  const { text } = await callTool(client, tool, args as Record<string, unknown>)
  expect(text).not.toContain('error')
  await callTool(client, tool, args as Record<string, unknown>)
  const [first, second, next] = api.seen.map(({ headers }) => headers['idempotency-key'])
  expect(first).toMatch(/^.{16,255}$/)
  expect(second).toBe(first)
  expect(next).not.toBe(first)
})

test('execute_workflow_async with a key: sends it; a key that is no header value is refused', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  api.answers.set('POST /workflows/default/report/run/async', { body: SUMMARY })
  await callTool(client, 'execute_workflow_async', { ...run, idempotency_key: 'order-7' })
  expect(api.seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['order-7'])
  for (const idempotency_key of ['', 'a b', 'a\r\nx: y', 'ü', 'x'.repeat(256)]) {
    const answer = await callTool(client, 'execute_workflow_async', { ...run, idempotency_key })
    expect(answer.isError, idempotency_key).toBe(true)
  }
  expect(api.seen).toHaveLength(1)
})

test.each<[tool: string, args: object, route: string]>([
  ['resume_workflow_async', { ...run, ...ex }, `/workflows/default/report/resume/${ID}/async`],
  ['resume_workflow_sync', { ...run, ...ex }, `/workflows/default/report/resume/${ID}/sync${WAIT}`],
  ['upload_workflow', { file_content: '' }, '/workflows'],
  ['change_executions', { ...BULK, action: 'resume' }, '/executions/bulk'],
])('%s fails with 502 or 503: not sent again', async (tool, args, route) => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  for (const status of [502, 503]) {
    api.answers.set(`POST ${route}`, failFirst(status, '{}'))
    const { text } = await callTool(client, tool, args as Record<string, unknown>)
    expect(text).toContain(`HTTP error: ${status}`)
  }
  expect(api.seen).toHaveLength(2)
  expect(api.seen[0]?.headers).not.toHaveProperty('idempotency-key')
})

test('a read fails with 503: sent again; a health check is not, since its failure is the answer', async () => {
  const { api, connect } = await connectOverHttp()
  const client = await connect()
  api.answers.set('GET /workers', failFirst(503, '[]'))
  expect((await callTool(client, 'list_workers')).text).toContain('"success":true')
  api.answers.set('GET /health', failFirst(503, '{}'))
  expect((await callTool(client, 'health_check')).text).toContain('HTTP error: 503')
  expect(api.seen).toHaveLength(3)
})

test('a client cancels a call that is being repeated: its request is aborted and not sent again', async () => {
  const { api, client } = await connectOverStdio()
  api.answers.set('GET /health', { body: '{}' })
  let count = 0
  // The server itself aborts it only after 300 s.
  const route = `POST /workflows/default/report/run/sync${WAIT}`
  api.answers.set(route, () => {
    count++
    if (count === 1) return { status: 502, body: '{}' }
    api.answers.set(route, 'silence')
    return { status: 502, body: '{}' }
  })
  const controller = new AbortController()
  const call = { name: 'execute_workflow_sync', arguments: run }
  const answer = client.callTool(call, undefined, { signal: controller.signal })
  await expect.poll(() => api.seen.length, { timeout: 30_000 }).toBe(3)
  controller.abort('no longer needed')
  await expect(answer).rejects.toThrow('no longer needed')
  await expect.poll(() => api.seen[2]?.isAborted, { timeout: 30_000 }).toBe(true)
  await callTool(client, 'health_check')
  expect(api.seen.map(({ route }) => route).filter((one) => one === route)).toHaveLength(3)
})
