import type { PongRequest } from '@windlass/proto/windlass/dispatcher/v1/dispatcher'
import { Fault } from '@windlass/runtime/faults'
import { expect, test } from 'vitest'
import { ID } from './assert-response.ts'
import { refuse } from './executions-fake.ts'
import { framesOf } from './frames.ts'
import { startGateway } from './gateway-fixture.ts'

const SESSION = '5'.repeat(32)
const bearer = (name: string) => ({ authorization: `Bearer session-of-${name}` })

const report = (execution_id: string, changes = {}) => ({
  workflow_id: 'x',
  workflow_namespace: 'default',
  workflow_name: 'hello',
  execution_id,
  input: null,
  output: null,
  state: 'RUNNING',
  current_worker: 'w1',
  events: [],
  ...changes,
})

/** Starts a gateway with one execution. */
async function withExecution(...args: Parameters<typeof startGateway>) {
  const made = await startGateway(...args)
  await made.call('POST', '/workflows/default/hello/run/async')
  return { ...made, id: made.executions.last }
}

test('a claim: the context with its log, the claim generation in both headers', async () => {
  const { call, executions, id } = await withExecution()
  const response = await call('POST', `/workers/w1/claim/${id}`, { headers: bearer('w1') })
  expect(response.headers.get('x-svc-claim-generation')).toBe('7')
  expect(response.headers.get('x-flux-claim-generation')).toBe('7')
  const context = (await response.json()) as { events: unknown }
  expect(context).toMatchObject({ execution_id: id, state: 'CLAIMED', current_worker: '' })
  expect(context.events).toEqual([
    {
      id: 'e1',
      type: 'WORKFLOW_CLAIMED',
      source_id: 's',
      name: 'n',
      value: null,
      time: '2026-01-02T03:04:05Z',
      subject: null,
    },
  ])
  expect(executions.commands.at(-1)?.body?.value).toEqual({
    writer: { worker_name: 'w1', session_id: SESSION, claim_generation: undefined },
    awaits_confirmation: true,
  })
})

test('a checkpoint: claim holder and payloads are passed on byte for byte', async () => {
  const { call, executions, id } = await withExecution()
  const event =
    '{"type":"TASK_COMPLETED","id":"i","source_id":"s/1 ü","name":"n","time":"t","value":'
  const payloads = { output: undefined, events: undefined }
  const members = report(id.toUpperCase(), { state: 'COMPLETED', ...payloads })
  const rest = JSON.stringify(members).slice(0, -1)
  const body = `${rest},"output": 9007199254740993 ,"events":[ ${event} {"__proto__": 1e400 } } ]}`
  for (const header of ['x-svc-claim-generation', 'x-flux-claim-generation']) {
    const response = await call('POST', `/workers/w1/checkpoint/${id}`, {
      body: Buffer.from(body),
      headers: { [header]: '7' },
    })
    expect(await response.json()).toMatchObject({ execution_id: id, state: 'COMPLETED' })
    expect(executions.commands.at(-1)?.body?.value).toEqual({
      writer: { worker_name: 'w1', session_id: '', claim_generation: 7 },
      state: 'COMPLETED',
      output_json: '9007199254740993',
      events: [
        {
          event_id: 'i',
          type: 'TASK_COMPLETED',
          source_id: 's/1 ü',
          name: 'n',
          time: 't',
          value_json: '{"__proto__": 1e400 }',
        },
      ],
    })
  }
})

test('payloads at the limits of depth and size: accepted within a checkpoint', async () => {
  const { call, executions, id } = await withExecution()
  const deep = '['.repeat(512) + ']'.repeat(512)
  const large = `"${'x'.repeat(16 * 2 ** 20 - 2)}"`
  const head = JSON.stringify(report(id, { state: 'COMPLETED' })).replace(
    /,"output":null|,"events":\[\]|}$/g,
    '',
  )
  const event = '{"type":"TASK_COMPLETED","id":"i","source_id":"s","name":"n","time":"t","value":'
  for (const payload of [deep, large]) {
    const value = `{"storage_type":"inline","metadata":{"value":${payload}}}`
    const body = `${head},"output":${payload},"events":[${event}${value}}]}`
    const headers = { ...bearer('w1'), 'content-type': 'application/json' }
    const response = await call('POST', `/workers/w1/checkpoint/${id}`, { body, headers })
    expect(response.status, await response.text()).toBe(200)
    expect(executions.commands.at(-1)?.body?.value).toMatchObject({ output_json: payload })
  }
})

test('a stale claim: 409 with the stale-claim text that workers match', async () => {
  const { call, json } = await startGateway({
    executions: {
      submit: async ({ commands }) => ({
        results: commands.map(() => refuse('conflict', 'stale-claim: it has another owner')),
      }),
    },
  })
  for (const response of [
    await json('POST', `/workers/w1/checkpoint/${ID}`, report(ID)),
    await call('POST', `/workers/w1/release/${ID}`),
    await json('POST', `/workers/w1/progress/${ID}`, []),
  ]) {
    expect(response.status).toBe(409)
    expect(await response.json()).toEqual({ detail: 'stale-claim: it has another owner' })
  }
})

test('a release: the new state', async () => {
  const { call, json, executions, id } = await withExecution()
  const response = await call('POST', `/workers/w1/release/${id}`)
  expect(await response.json()).toEqual({ status: 'released', state: 'SCHEDULED' })
  const until = { wake_at: '9999-12-31T23:59:59+01:00', wake_on: [ID] }
  expect((await json('POST', `/workers/w1/release/${id}`, until)).status).toBe(200)
  expect(executions.commands.at(-1)?.body?.value).toMatchObject({
    park: { wake_at: new Date('9999-12-31T22:59:59Z'), wake_on: [ID] },
  })
})

test('a release of a crashed execution: passed on, and another value than true or false is 422', async () => {
  const { json, id, executions } = await withExecution()
  const url = `/workers/w1/release/${id}`
  expect((await json('POST', url, { crashed: 'yes' })).status).toBe(422)
  expect((await json('POST', url, { crashed: true, unknown: 1 })).status).toBe(200)
  expect(executions.commands.at(-1)?.body?.value).toMatchObject({ crashed: true })
})

test('progress of the claim holder: published to the readers of the execution', async () => {
  const { call, json, executions, id } = await withExecution()
  const frames = framesOf(await call('GET', `/executions/${id}/events`))
  const items = [
    { task_id: 't_1', task_name: 't', value: { n: 1 } },
    { task_id: 't_1', task_name: 't', value: 'x'.repeat(2_000_000) },
    { task_id: 't_1', task_name: 't' },
  ]
  const response = await json('POST', `/workers/w1/progress/${id}`, items)
  expect(await response.json()).toEqual({ status: 'ok' })
  expect(executions.commands.at(-1)?.body?.$case).toBe('verify')
  expect((await frames.next()).value?.data).toMatchObject({ value: { n: 1 }, source_id: 't_1' })
  // The item that exceeds the message limit is dropped.
  expect((await frames.next()).value?.data).toMatchObject({ value: null })
  await frames.return()
})

test('a pong: health and metrics are passed on, invalid metrics dropped', async () => {
  const pongs: PongRequest[] = []
  const { json, call } = await startGateway({
    fleet: {
      async pongs(request) {
        pongs.push(...request.pongs)
        return { refusals: [] }
      },
    },
  })
  const send = (body: unknown) => json('POST', '/workers/w1/pong', body, bearer('w1'))
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, i]))
  const lost = JSON.parse('{"a":1,"__proto__":2}')
  const wrong = ['x', [1], { a: 'b' }, { a: null }, { a: true }, { 'a\n': 1 }, many, lost, null]
  for (const metrics of wrong) expect((await send({ metrics })).status).toBe(200)
  expect(pongs.map(({ metrics }) => metrics)).toEqual(wrong.map(() => undefined))
  expect(await (await send({ healthy: false, metrics: { 'flux.cpu': 1.5 } })).json()).toEqual({
    status: 'ok',
  })
  expect(pongs.at(-1)).toEqual({
    name: 'w1',
    session_id: SESSION,
    healthy: false,
    metrics: { values: { 'flux.cpu': 1.5 } },
  })
  expect((await call('POST', '/workers/w1/pong')).status).toBe(200)
  expect(pongs.at(-1)).toMatchObject({ session_id: '', healthy: true })
})

test('a bearer token of no session: 401; of another worker: 403', async () => {
  const { call } = await startGateway()
  const send = (headers: Record<string, string>) =>
    call('POST', `/workers/w1/release/${ID}`, { headers })
  const unknown = await send({ authorization: 'Bearer nonsense' })
  expect(unknown.status).toBe(401)
  expect(unknown.headers.get('www-authenticate')).toBe('Bearer')
  const basic = await send({ authorization: 'Basic eDp5' })
  expect(basic.status).toBe(401)
  expect(await basic.json()).toEqual({
    detail: "Unsupported authorization scheme. Use 'Bearer <token>'.",
  })
  for (const other of ['w2', 'W1']) {
    const mismatch = await send(bearer(other))
    expect(mismatch.status).toBe(403)
    expect(await mismatch.json()).toEqual({
      detail: `Worker identity mismatch: authenticated as '${other}', but accessing endpoint for 'w1'`,
    })
  }
})

test('a known session: checked once; an unknown one without identity: 503', async () => {
  let checks = 0
  let isAway = false
  const { call } = await startGateway({
    identity: {
      async checkSession({ token }) {
        checks++
        if (isAway) throw new Fault('unavailable', 'away')
        return { worker_name: token.slice(-2), session_id: SESSION }
      },
    },
  })
  const send = (name: string) =>
    call('POST', `/workers/${name}/release/${ID}`, { headers: bearer(name) })
  for (let i = 0; i < 3; i++) expect((await send('w1')).status).toBe(404)
  expect(checks).toBe(1)
  isAway = true
  expect((await send('w1')).status).toBe(404)
  expect((await send('w2')).status).toBe(503)
})
