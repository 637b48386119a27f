import { expect, test } from 'vitest'
import { startGateway, workflow } from './gateway-fixture.ts'

const RUN = '/workflows/default/hello/run'
const JSON_TYPE = { 'content-type': 'application/json' }

test('a terminal message with the row: a sync run answers without another read', async () => {
  const { call, executions } = await startGateway()
  const body = '{"n":9007199254740993}'
  const headers = { 'content-type': 'application/json' }
  const running = call('POST', `${RUN}/sync`, { body, headers })
  await expect.poll(() => executions.commands.length).toBe(1)
  const reads = executions.calls.get
  executions.grow(executions.last, 'COMPLETED', [
    { type: 'WORKFLOW_COMPLETED', value_json: '1e400' },
  ])
  const text = await (await running).text()
  expect(text).toContain(`"input":${body},"output":1e400,"state":"COMPLETED"`)
  expect(executions.calls.get).toBe(reads)
})

test('two sync runs at a time: each is answered with its own result', async () => {
  const { call, executions } = await startGateway()
  const running = [1, 2].map(() => call('POST', `${RUN}/sync`, { body: '1', headers: JSON_TYPE }))
  await expect.poll(() => executions.commands.length).toBe(2)
  const ids = executions.commands.map(({ execution_id }) => execution_id)
  for (const id of ids)
    executions.grow(id, 'COMPLETED', [{ type: 'WORKFLOW_COMPLETED', value_json: `"${id}"` }])
  const texts = await Promise.all(running.map(async (response) => (await response).text()))
  expect(texts.map((text) => JSON.parse(text).output)).toEqual(ids)
})

test('a replica of an earlier release, which signals no sender: a sync run subscribes and is answered', async () => {
  const { call, executions } = await startGateway()
  executions.signals.replies = false
  const running = call('POST', `${RUN}/sync`, { body: '1', headers: JSON_TYPE })
  await expect.poll(() => executions.calls.get).toBe(1)
  executions.grow(executions.last, 'COMPLETED', [
    { type: 'WORKFLOW_COMPLETED', value_json: '"done"' },
  ])
  expect(await (await running).json()).toMatchObject({ state: 'COMPLETED', output: 'done' })
})

test('an async run: the summary of the new execution', async () => {
  const { json } = await startGateway()
  const response = await json('POST', `${RUN}/async`, { a: 1 })
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    workflow_id: '0'.repeat(31).concat('1'),
    workflow_namespace: 'default',
    workflow_name: 'hello',
    execution_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    input: { a: 1 },
    output: null,
    state: 'SCHEDULED',
    current_worker: '',
    worker_name: '',
  })
})

test('detailed in every spelling of a boolean: true adds the log', async () => {
  const { json } = await startGateway()
  for (const yes of ['true', 'TRUE', '1', 'yes', 'on', 'y', 't'])
    expect(await (await json('POST', `${RUN}/async?detailed=${yes}`, 1)).json()).toMatchObject({
      events: [],
    })
  for (const no of ['false', '0', 'No', 'off', 'n', 'f'])
    expect(await (await json('POST', `${RUN}/async?detailed=${no}`, 1)).json()).not.toHaveProperty(
      'events',
    )
})

test('any JSON input: stored and answered byte for byte', async () => {
  const { call, executions } = await startGateway()
  for (const input of [
    '9007199254740993',
    '[1e400, -0, 1.0, 1E+2]',
    '{"__proto__":{"a":1},"a":1,"a":2}',
    '"\\ud800 \\u0000 \u2028 🚀"',
    '{ "b" : 1,\n "a":2 }',
  ]) {
    const response = await call('POST', `${RUN}/async`, { body: Buffer.from(input) })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain(`"input":${input},`)
    expect(executions.commands.at(-1)?.body).toMatchObject({ value: { input_json: input } })
  }
})

test('no body, with or without a content type: the input is null', async () => {
  const { call, executions } = await startGateway()
  const typed: Record<string, string> = { 'content-type': 'application/json' }
  for (const headers of [{}, typed]) {
    expect((await call('POST', `${RUN}/async`, { headers })).status).toBe(200)
    expect(executions.commands.at(-1)?.body).toMatchObject({ value: { input_json: 'null' } })
  }
})

test('a version and a preferred worker under either header name: passed on', async () => {
  const { call, executions } = await startGateway()
  const cases: [Record<string, string>, string][] = [
    [{ 'x-svc-preferred-worker': ' w1 ' }, 'w1'],
    [{ 'x-flux-preferred-worker': 'w2' }, 'w2'],
    [{ 'x-svc-preferred-worker': 'w'.repeat(257) }, ''],
  ]
  for (const [headers, preferred_worker] of cases) {
    await call('POST', `${RUN}/async?version=2`, { headers })
    expect(executions.commands.at(-1)?.body).toMatchObject({
      value: { workflow_version: 2, preferred_worker },
    })
  }
})

test('an input that violates the schema: 422 with the location of each problem', async () => {
  const input_schema_json = JSON.stringify({
    type: 'object',
    required: ['item'],
    properties: { item: { type: 'string' }, count: { type: 'integer' }, x: { pattern: '(a+)+$' } },
  })
  const { json, executions } = await startGateway({
    catalog: { resolve: async () => workflow({ input_schema_json }) },
  })
  const response = await json('POST', `${RUN}/async`, { count: 'many', x: 'a'.repeat(50) })
  expect(response.status).toBe(422)
  expect(await response.json()).toEqual({
    detail: [
      { loc: ['body', 'item'], msg: 'Field required', type: 'missing' },
      { loc: ['body', 'count'], msg: 'must be integer', type: 'type' },
    ],
  })
  expect((await json('POST', `${RUN}/async`, null)).status).toBe(422)
  expect((await json('POST', `${RUN}/async`, { item: 'tea' })).status).toBe(200)
  expect(executions.commands).toHaveLength(1)
})

test('a repeated idempotency key: the same execution id and request hash', async () => {
  const { json, executions } = await startGateway()
  const run = (body: unknown, key: string) =>
    json('POST', `${RUN}/async`, body, { 'idempotency-key': key })
  for (const [body, key] of [
    [1, 'k'],
    [1, 'k'],
    [2, 'k'],
    [1, 'l'],
  ] as const)
    expect((await run(body, key)).status).toBe(200)
  const made = executions.commands.map(({ execution_id, body }) => ({
    execution_id,
    hash: body?.$case === 'create' && body.value.request_hash,
  }))
  expect(made[1]).toEqual(made[0])
  expect(made[2]?.execution_id).toBe(made[0]?.execution_id)
  expect(made[2]?.hash).not.toBe(made[0]?.hash)
  expect(made[3]?.execution_id).not.toBe(made[0]?.execution_id)
  expect((await run(1, 'k'.repeat(256))).status).toBe(422)
})

test('several errors in one request: mode is checked first, then workflow, then body', async () => {
  const { call } = await startGateway()
  const bad = Buffer.from('{')
  expect((await call('POST', '/workflows/default/missing/run/later', { body: bad })).status).toBe(
    400,
  )
  expect((await call('POST', '/workflows/default/missing/run/async', { body: bad })).status).toBe(
    404,
  )
  expect((await call('POST', `${RUN}/async`, { body: bad })).status).toBe(422)
})

test('a sync run: answers with the output once the execution is terminal', async () => {
  const { json, executions } = await startGateway()
  const pending = json('POST', `${RUN}/sync`, 1)
  await expect.poll(() => executions.commands.length).toBe(1)
  const id = executions.last
  executions.grow(id, 'RUNNING', [{ type: 'WORKFLOW_STARTED' }])
  executions.grow(id, 'PAUSED', [{ type: 'WORKFLOW_PAUSED' }])
  executions.grow(id, 'COMPLETED', [{ type: 'WORKFLOW_COMPLETED', value_json: '42' }])
  expect(await (await pending).json()).toMatchObject({
    execution_id: id,
    state: 'COMPLETED',
    output: 42,
  })
})

test('a lost terminal message: a sync run finds the result by polling', async () => {
  const { json, executions } = await startGateway()
  executions.signals.on = false
  const pending = json('POST', `${RUN}/sync`, 1)
  await expect.poll(() => executions.commands.length).toBe(1)
  executions.grow(executions.last, 'FAILED', [{ type: 'WORKFLOW_FAILED' }])
  expect(await (await pending).json()).toMatchObject({ state: 'FAILED' })
})

test('wait_for=paused: answers at a pause with its output', async () => {
  const { json, executions } = await startGateway()
  const pending = json('POST', `${RUN}/sync?wait_for=paused`, 1)
  await expect.poll(() => executions.commands.length).toBe(1)
  const id = executions.last
  const row = executions.rows.get(id)
  if (row) row.execution.pause_output_json = '{"ask":1}'
  executions.grow(id, 'PAUSED', [{ type: 'WORKFLOW_PAUSED' }])
  expect(await (await pending).json()).toMatchObject({ state: 'PAUSED', output: { ask: 1 } })
})

test('a sync run times out: 200 with the state so far', async () => {
  const { json } = await startGateway()
  const response = await json('POST', `${RUN}/sync?timeout=0.1`, 1)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ state: 'SCHEDULED' })
})

test('a sync caller disconnects: the wait and its polling stop', async () => {
  const { url, executions } = await startGateway()
  const leave = new AbortController()
  const pending = fetch(`${url}${RUN}/sync`, { method: 'POST', signal: leave.signal })
  await expect.poll(() => executions.commands.length).toBe(1)
  await expect.poll(() => executions.calls.get).toBeGreaterThan(0)
  leave.abort()
  await expect(pending).rejects.toThrow()
  // A wait polls once a second; no read in 1.2 s shows that none is left.
  let before = -1
  await expect
    .poll(
      () => {
        const still = executions.calls.get === before
        before = executions.calls.get
        return still
      },
      { interval: 1_200 },
    )
    .toBe(true)
})

test('the gateway stops during a sync run: 503 with the execution id', {
  timeout: 20_000,
}, async () => {
  const { json, executions, stop } = await startGateway()
  const pending = json('POST', `${RUN}/sync`, 1)
  await expect.poll(() => executions.commands.length).toBe(1)
  const stopped = stop()
  const response = await pending
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await response.json()).toEqual({
    detail: { message: 'the server is stopping', execution_id: executions.last },
  })
  await stopped
})
