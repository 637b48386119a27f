import { readFileSync } from 'node:fs'
import { namespaceAccessFor } from '@windlass/gateway/route/namespace-access'
import type { Route } from '@windlass/gateway/route/route'
import { routes } from '@windlass/gateway/routes/index'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { followLists } from './follow-lists.ts'
import { idleWorker } from './idle-worker.ts'
import { hourly } from './invalid-schedule-cases.ts'
import { callTool } from './mcp-client.ts'
import { sendRequest } from './raw-http.ts'
import { ID, OPERATIONS, requestsOf, THEIRS } from './two-tenant-cases.ts'
import { TOOL_ARGUMENTS } from './two-tenant-tools.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem
let one: string
let two: string
let held: Awaited<ReturnType<typeof idleWorker>>
let other: Awaited<ReturnType<typeof idleWorker>>

const permissionsOf = (namespace: string) =>
  ['workflow', 'execution', 'schedule'].map((resource) => `${resource}:${namespace}:*`)

const OF_ONE = workflowSource('one', THEIRS.workflow_name, ', affinity={"pool": "one"}')

beforeAll(async () => {
  auth = await startAuthSystem((each) => teardown.push(each), { replicas: { gateway: 2 } })
  one = await auth.keyWith(permissionsOf('one'))
  two = await auth.keyWith(permissionsOf('two'))
  held = await idleWorker(auth, 'w1', { pool: 'one' })
  other = await idleWorker(auth, 'w2', { pool: 'two' })
  for (const worker of [held, other]) teardown.push(() => worker.disconnect())
  await auth.upload(workflowSource('two', 'own', ', affinity={"pool": "none"}'), two)
  const own = { name: 'own', workflow_name: 'two/own', schedule_config: hourly }
  await auth.requestOk('POST /schedules', { token: two, body: own })
  await auth.requestOk('POST /workflows/two/own/run/async', { token: two, body: null })
})
afterAll(async () => {
  for (const each of teardown.reverse()) await each()
})

const listOperations = () => {
  const document = new URL('../../docs/openapi.json', import.meta.url)
  const { paths } = JSON.parse(readFileSync(document, 'utf8')) as { paths: Record<string, object> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
}

test('operations of docs/openapi.json: each is a case of this test', () => {
  expect(Object.keys(OPERATIONS).sort()).toEqual(listOperations().sort())
})

/** Replaces what differs between two equal answers: times, and the id of the execution. */
const comparable = (text: string, id: string) =>
  text
    .replaceAll(id, ID)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, 'TIME')
    // Rates are of the last minute; results of tools have them in a quoted text, too.
    .replace(/_per_minute(\\?)":\d+/g, '_per_minute$1":N')

async function tryRequest(what: string, token: string, { id, body, gateway = 0 }: Trial) {
  const filled = body === undefined ? undefined : JSON.parse(fill(JSON.stringify(body), id))
  const asked = { token, body: filled }
  const { status, text } = await auth.request(fill(what, id), asked, gateway)
  return [what, status, comparable(text, id)]
}

interface Trial {
  id: string
  body?: unknown
  gateway?: number
}

const fill = (text: string, id: string) => text.replaceAll(ID, id)

const NO_EXECUTION = 'f'.repeat(32)

/** Everything that tenant `two` gets to see for the objects of tenant `one`, at the gateways in turn. */
async function seenByTwo(id: string, firstGateway = 0) {
  const seen: unknown[] = []
  for (const [operation, { body, exempt }] of Object.entries(OPERATIONS)) {
    if (exempt !== undefined) continue
    for (const what of requestsOf(operation)) {
      const gateway = (seen.length + firstGateway) % 2
      seen.push(await tryRequest(what, two, { id, body, gateway }))
    }
  }
  const upload = await auth.upload(OF_ONE, two)
  seen.push(['POST /workflows', upload.status, await upload.text()])
  return [...seen, ...(await toolsOfTwo(id))]
}

/** Results of all MCP tools with the names of tenant `one`. */
async function toolsOfTwo(id: string) {
  const { origin } = new URL(auth.system.mcpUrl)
  const headers = { accept: 'application/json, text/event-stream', authorization: `Bearer ${two}` }
  const listed = await sendRequest(origin, 'POST', '/mcp', {
    headers,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    keepsStream: true,
  })
  const data = /^data: (.*)$/m.exec(listed.text)?.[1] ?? listed.text
  const { tools } = JSON.parse(data).result as { tools: Tool[] }
  expect(tools.length).toBeGreaterThan(20)
  const results: unknown[] = []
  for (const { name, inputSchema } of tools) {
    const args = argumentsOf(name, Object.keys(inputSchema.properties ?? {}), id)
    const { status, text } = await callTool(auth, { name, arguments: args }, { token: two })
    results.push([name, status, comparable(text, id)])
  }
  return results
}

interface Tool {
  name: string
  inputSchema: { properties?: object }
}

function argumentsOf(tool: string, names: string[], id: string): Record<string, unknown> {
  const known = { ...TOOL_ARGUMENTS, file_content: OF_ONE }
  for (const name of names)
    if (!(name in known)) throw new Error(`no value for the argument ${name} of ${tool}`)
  const given = Object.entries(known).filter(([name]) => names.includes(name))
  return JSON.parse(fill(JSON.stringify(Object.fromEntries(given)), id))
}

/** Creates the objects of tenant `one`: an execution that waits for an approval, a schedule and more. */
async function createObjectsOfOne(): Promise<string> {
  expect((await auth.upload(OF_ONE, one)).status).toBe(200)
  const run = `POST /workflows/one/${THEIRS.workflow_name}/run/async`
  const { execution_id = '' } = await auth.requestOk(run, { token: one, body: 'secret-input' })
  const schedule = {
    ...{ name: THEIRS.schedule, workflow_name: `one/${THEIRS.workflow_name}` },
    ...{ schedule_config: hourly, input_data: 'secret-input' },
  }
  await auth.requestOk('POST /schedules', { token: one, body: schedule })
  for (const kind of ['secrets', 'configs'])
    await auth.requestOk(`POST /admin/${kind}`, { body: { name: THEIRS.secret, value: 1 } })
  await auth.createAccount([], THEIRS.subject)
  await auth.requestOk('POST /admin/roles', { body: { name: THEIRS.role, permissions: [] } })
  await auth.requestOk('POST /admin/worker-tokens', { body: { name: 'secret-token' } })
  const { generation } = await held.claim(execution_id)
  const question = { task_call_id: THEIRS.call, task_name: 'secret-task' }
  const asked = await held.call(`approvals/${execution_id}`, question, {
    'x-svc-claim-generation': generation,
  })
  expect(asked.status, asked.text).toBe(200)
  return execution_id
}

/** Reads of tenant `one`, which also fill the caches of both gateways. */
const READS = [
  'GET /executions',
  `GET /executions/${ID}`,
  `GET /executions/${ID}/explain`,
  `GET /executions/${ID}/approvals/${THEIRS.call}`,
  'GET /approvals',
  'GET /schedules',
  'GET /schedules/forecast',
  `GET /schedules/${THEIRS.schedule}`,
  'GET /workflows',
  `GET /workflows/one/${THEIRS.workflow_name}`,
  `GET /workflows/one/${THEIRS.workflow_name}/status/${ID}`,
  `GET /workflows/one/${THEIRS.workflow_name}/executions`,
]

// Some hundred requests, each with an rpc of its own: minutes on a busy machine.
const HANG_LIMIT_MS = 600_000

const A6 = 'A6: objects of tenant one: no route, tool or stream answers tenant two differently'
test(A6, { timeout: HANG_LIMIT_MS }, async () => {
  const before = await seenByTwo(NO_EXECUTION)
  const id = await createObjectsOfOne()
  for (const what of READS)
    for (const gateway of [0, 1]) {
      const [, status, text] = await tryRequest(what, one, { id, gateway })
      expect([what, status]).toEqual([what, 200])
      expect(text, what).toMatch(/secret-|EXECUTION-ID/)
    }
  // The second pass asks for each at the other gateway, after the first one has used the caches of both.
  for (const firstGateway of [0, 1]) expect(await seenByTwo(id, firstGateway)).toEqual(before)

  const [, , events] = await tryRequest(`GET /executions/${ID}?detailed=true`, one, { id })
  expect(events).not.toMatch(/WORKFLOW_CANCEL|APPROVED|REJECTED/)
  const shown = await auth.requestOk(`GET /schedules/${THEIRS.schedule}`, { token: one })
  expect(shown).toMatchObject({ input_data: 'secret-input', status: 'active' })
})

test.each((routes as readonly Route[]).filter(({ isPage }) => !isPage))(
  'object of another namespace, $method $path: refused as docs/access.md says',
  async ({ method, path, access }) => {
    const operation = `${method.toUpperCase()} ${path}`
    const { body, exempt } = OPERATIONS[operation] ?? {}
    if (exempt !== undefined) return
    const [what = ''] = requestsOf(operation)
    const [, status] = await tryRequest(what, two, { id: NO_EXECUTION, body })
    const isRefused = namespaceAccessFor(access, { role: 'team', isOwn: false }) === 'no'
    expect(Number(status) >= 400).toBe(isRefused)
  },
)

test('A6: streams of lists: each tenant gets the changes of its own objects only', async () => {
  const [ofOne, ofTwo] = [await followLists(auth, one), await followLists(auth, two)]
  const run = (path: string, token: string) =>
    auth.requestOk(`POST /workflows/${path}/run/async`, { token, body: 'x' })
  const { execution_id: theirs = '' } = await run(`one/${THEIRS.workflow_name}`, one)
  const schedule = {
    name: 'followed',
    workflow_name: `one/${THEIRS.workflow_name}`,
    schedule_config: hourly,
  }
  await auth.requestOk('POST /schedules', { token: one, body: schedule })
  await expect.poll(ofOne.text, { timeout: HANG_LIMIT_MS }).toContain(theirs)
  await expect.poll(ofOne.text, { timeout: HANG_LIMIT_MS }).toContain('followed')
  // The change of their own comes after those of the other tenant.
  const { execution_id: own = '' } = await run('two/own', two)
  await expect.poll(ofTwo.text, { timeout: HANG_LIMIT_MS }).toContain(own)
  expect(ofTwo.text()).not.toContain(theirs)
  expect(ofTwo.text()).not.toMatch(/secret-|followed/)
  expect(ofOne.text()).not.toContain(own)
})

test('worker of other work: no call for an execution that it does not hold', async () => {
  const run = `POST /workflows/one/${THEIRS.workflow_name}/run/async`
  const { execution_id: id = '' } = await auth.requestOk(run, { token: one, body: 'secret-input' })
  await held.claim(id)
  const calls = Object.entries(OPERATIONS).filter(([operation]) =>
    /\/workers\/{name}\/.*(?:{execution_id}|secrets)/.test(operation),
  )
  expect(calls).toHaveLength(9)
  for (const [operation, { body }] of calls) {
    const [request = ''] = requestsOf(operation)
    for (const name of ['w1', 'w2']) {
      const what = request.replace('/workers/w1/', `/workers/${name}/`)
      const [, status, text] = await tryRequest(what, other.token, { id, body })
      expect([what, Number(status) >= 400, text]).toEqual([what, true, expect.any(String)])
      expect(text, what).not.toContain('secret-input')
    }
  }
})
