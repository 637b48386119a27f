import { expect, test } from 'vitest'
import { callTool, connectOverHttp } from './mcp-fixture.ts'

const SESSIONS = { SVC_MCP__SESSION_IDS: 'true' }
const HANG_LIMIT = { timeout: 30_000 }
/** A call that the server aborts only after 300 s. */
const RUN = 'POST /workflows/default/report/run/sync?wait_for=paused&timeout=290'
const call = {
  name: 'execute_workflow_sync',
  arguments: { workflow_name: 'report', input_data: '' },
}
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

/** Starts a call that the API does not answer, as an agent that can cancel it. */
function startCall(client: Awaited<ReturnType<Setup['connect']>>) {
  const controller = new AbortController()
  const ended = client.callTool(call, undefined, { signal: controller.signal }).then(
    () => 'answered',
    () => 'cancelled',
  )
  return { cancel: () => controller.abort('no longer needed'), ended }
}

type Setup = Awaited<ReturnType<typeof connectOverHttp>>

test('a client cancels a call over HTTP: its call of the API is aborted, that of an equal client is not', async () => {
  const { api, connect } = await connectOverHttp(SESSIONS)
  api.answers.set(RUN, 'silence')
  // Clients of one credential, whose requests have the same ids.
  const first = startCall(await connect('Bearer a.1'))
  await expect.poll(() => api.seen.length, HANG_LIMIT).toBe(1)
  const second = await connect('Bearer a.1')
  startCall(second)
  await expect.poll(() => api.seen.length, HANG_LIMIT).toBe(2)
  first.cancel()
  expect(await first.ended).toBe('cancelled')
  await expect.poll(() => api.seen[0]?.isAborted, HANG_LIMIT).toBe(true)
  api.answers.set('GET /health', { body: '{}' })
  await callTool(second, 'health_check')
  expect(api.seen[1]?.isAborted).toBe(false)
})

test('a cancelled call that is being repeated: not sent again', async () => {
  const { api, connect } = await connectOverHttp(SESSIONS)
  const client = await connect()
  api.answers.set(RUN, () => {
    api.answers.set(RUN, 'silence')
    return { status: 503, body: '{}' }
  })
  const { cancel, ended } = startCall(client)
  await expect.poll(() => api.seen.length, HANG_LIMIT).toBe(2)
  cancel()
  await ended
  await expect.poll(() => api.seen[1]?.isAborted, HANG_LIMIT).toBe(true)
  api.answers.set('GET /health', { body: '{}' })
  await callTool(client, 'health_check')
  expect(api.seen.map((one) => one.route)).toEqual([RUN, RUN, 'GET /health'])
})

test('N148: a session id that no server issued, or of another credential: 404, without effect on calls', async () => {
  const { api, url } = await connectOverHttp(SESSIONS)
  api.answers.set(RUN, 'silence')
  const send = (token: string, message: object, session?: string) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        ...HEADERS,
        authorization: `Bearer ${token}`,
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const initialized = await send('a.1', { id: 0, method: 'initialize', params })
  await initialized.text()
  const session = initialized.headers.get('mcp-session-id') ?? ''
  expect(session).toMatch(/^[\x21-\x7e]{32,}$/)
  const changed = `${session.slice(0, -1)}${session.endsWith('0') ? '1' : '0'}`
  for (const guessed of ['', 'guessed', crypto.randomUUID(), changed])
    expect((await send('a.1', { id: 1, method: 'ping' }, guessed)).status, guessed).toBe(404)

  void send('a.1', { id: 7, method: 'tools/call', params: call }, session).catch(() => {})
  await expect.poll(() => api.seen.length, HANG_LIMIT).toBe(1)
  const cancel = { method: 'notifications/cancelled', params: { requestId: 7 } }
  expect((await send('b.2', cancel, session)).status).toBe(404)
  expect((await send('a.1', cancel)).status).toBe(202)
  const other = { ...cancel, params: { requestId: '7' } }
  expect((await send('a.1', other, session)).status).toBe(202)
  expect(api.seen[0]?.isAborted).toBe(false)
  expect((await send('a.1', cancel, session)).status).toBe(202)
  await expect.poll(() => api.seen[0]?.isAborted, HANG_LIMIT).toBe(true)
})

test('no setting: no session id is issued, because replicas of earlier releases refuse them', async () => {
  const { connect } = await connectOverHttp()
  const { transport } = await connect()
  expect(transport?.sessionId).toBeUndefined()
  const withSessions = await connectOverHttp(SESSIONS)
  expect((await withSessions.connect()).transport?.sessionId).toMatch(/^.{32,}$/)
})
