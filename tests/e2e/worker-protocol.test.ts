import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { call } from '@windlass/testkit/http'
import { expect, test } from 'vitest'
import {
  eventTypes,
  executionFixture,
  expectOk,
  expectStaleClaim,
  HANG_MS,
  sharedSystem,
} from './execution-fixture.ts'
import { connectWorker, registration, snapshot, workerEvent } from './minimal-worker.ts'

const system = sharedSystem({ singleProcess: true, env: { SVC_EXECUTIONS__CLAIM_TIMEOUT: '30' } })
const SEVEN = ['id', 'name', 'source_id', 'subject', 'time', 'type', 'value']
const OURS = 'x-svc-claim-generation'
const THEIRS = 'x-flux-claim-generation'

test('register: returns the stored record and a session token', async () => {
  const worker = await connectWorker(system(), 'none')
  expect(expectOk(worker.registered)).toMatchObject({
    ...registration(worker.name, 'none'),
    session_token: expect.stringMatching(/.{16,}/),
    runners: ['inprocess'],
  })
  const body = JSON.stringify(registration('x', 'none'))
  const register = (headers: Record<string, string>, text = body) =>
    call('POST', `${system().url}/workers/register`, { body: text, headers })
  expect((await register({})).status).toBe(401)
  const wrong = await register({ authorization: 'Bearer wrong' })
  expect([wrong.status, wrong.json.detail]).toEqual([403, 'Invalid bootstrap token.'])
  const bootstrap = { authorization: `Bearer ${await system().bootstrapToken()}` }
  expect((await register(bootstrap, '{"name":"x"}')).status).toBe(422)
})

test('connect: the worker gets pings and its pongs are accepted', async () => {
  const worker = await connectWorker(system(), 'none')
  const stream = await worker.connect()
  expect(stream.status).toBe(200)
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  })
  await expect.poll(() => worker.frames.length, { timeout: HANG_MS }).toBeGreaterThan(2)
  expect(new Set(worker.frames.map(({ event }) => event))).toEqual(new Set(['ping']))
  expect(expectOk(await worker.post('pong'))).toEqual({ status: 'ok' })
  const metrics = { healthy: true, metrics: { 'flux.cpu_percent': 12.5, queue_depth: 3 } }
  expect(expectOk(await worker.post('pong', { body: JSON.stringify(metrics) }))).toEqual({
    status: 'ok',
  })
  const bad = { body: '{"metrics":{"a":"text"}}' }
  expect(expectOk(await worker.post('pong', bad))).toEqual({ status: 'ok' })
  expect((await worker.post('pong', { body: '[]' })).status).toBe(422)
  const unknown = `${system().url}/workers/unknown/connect`
  expect((await call('GET', unknown)).status).toBe(404)
})

test('work: dispatched, claimed and checkpointed; a stale generation gets 409', async () => {
  const a = await executionFixture(system(), 0)
  const worker = await connectWorker(system(), a.pool)
  await worker.connect()
  const id = await a.run('{"a":1}')
  const { data, id: frameId } = await worker.frame('execution_scheduled')
  expect(frameId).toMatch(new RegExp(`^${id}_`))
  const { workflow, context } = data
  expect(workflow).toMatchObject({
    id: expect.any(String),
    namespace: 'default',
    name: a.name,
    version: 1,
  })
  expect(Buffer.from(workflow.source, 'base64').toString()).toContain(`async def ${a.name}`)
  expect(context).toMatchObject({
    workflow_id: workflow.id,
    workflow_namespace: 'default',
    workflow_name: a.name,
    execution_id: id,
    input: { a: 1 },
    output: null,
    state: 'SCHEDULED',
    current_worker: worker.name,
  })
  expect(data.exec_token).toMatch(/^\w+\.[\w-]+\.[\w-]+$/)

  const claim = await worker.post(`claim/${id}`)
  const claimed = expectOk(claim)
  expect(eventTypes(claimed)).toEqual(['WORKFLOW_SCHEDULED', 'WORKFLOW_CLAIMED'])
  for (const event of [...context.events, ...claimed.events])
    expect(Object.keys(event).sort()).toEqual(SEVEN)
  const generation = claim.headers[OURS] as string
  expect(generation).toMatch(/^\d+$/)
  expect(claim.headers[THEIRS]).toBe(generation)
  expect((await worker.post(`claim/${id}`)).headers[THEIRS]).toBe(generation)

  const first = workerEvent('TASK_COMPLETED', 'one')
  // The first checkpoint repeats the events of the server; later ones only add events.
  const body = snapshot(claimed, 'RUNNING', [
    ...claimed.events,
    workerEvent('WORKFLOW_STARTED'),
    first,
  ])
  for (const header of [OURS, THEIRS])
    expect(
      expectOk(await worker.post(`checkpoint/${id}`, { body, headers: { [header]: generation } })),
    ).toMatchObject({ execution_id: id, state: 'RUNNING', current_worker: worker.name })
  expect(eventTypes(await a.read(id)).slice(2)).toEqual(['WORKFLOW_STARTED', 'TASK_COMPLETED'])
  const [event] = (await a.read(id)).events.slice(-1)
  expect(event).toEqual(first)
  const progress = '[{"task_id":"task_1","task_name":"task","value":0.5}]'
  expect(expectOk(await worker.post(`progress/${id}`, { body: progress }))).toEqual({
    status: 'ok',
  })

  const old = { [THEIRS]: String(Number(generation) - 1) }
  expectStaleClaim(await worker.post(`checkpoint/${id}`, { body, headers: old }))
  expectStaleClaim(await worker.post(`release/${id}`, { headers: old }))
  const released = expectOk(
    await worker.post(`release/${id}`, { headers: { [THEIRS]: generation } }),
  )
  expect(released).toEqual({ status: 'released', state: 'SCHEDULED' })
  expectStaleClaim(await worker.post(`checkpoint/${id}`, { body, headers: { [OURS]: generation } }))

  const again = await worker.frame('execution_scheduled')
  expect(eventTypes(again.data.context).slice(2, 4)).toEqual(['WORKFLOW_STARTED', 'TASK_COMPLETED'])
  const next = await worker.post(`claim/${id}`)
  expect(Number(next.headers[OURS])).toBeGreaterThan(Number(generation))
  const done = snapshot(expectOk(next), 'COMPLETED', [workerEvent('WORKFLOW_COMPLETED', 7)], 7)
  const headers = { [OURS]: next.headers[OURS] as string }
  for (let i = 0; i < 2; i++)
    expect(expectOk(await worker.post(`checkpoint/${id}`, { body: done, headers })).state).toBe(
      'COMPLETED',
    )
  // The last checkpoint of an aborted older worker, without a generation, changes nothing.
  const abort = snapshot(claimed, 'CANCELLED', [workerEvent('WORKFLOW_CANCELLED')])
  expectStaleClaim(await worker.post(`checkpoint/${id}`, { body: abort }))
  expect(await a.read(id)).toMatchObject({ state: 'COMPLETED', output: 7 })
})

test('cancel and resume: the worker gets the frame and reports the result', async () => {
  const a = await executionFixture(system(), 0)
  const worker = await connectWorker(system(), a.pool)
  await worker.connect()
  const id = await a.run()
  await worker.frame('execution_scheduled')
  const claimed = expectOk(await worker.post(`claim/${id}`))
  const pausing = [
    workerEvent('TASK_PAUSED', 'gate'),
    workerEvent('WORKFLOW_PAUSED', { name: 'gate', output: 5 }),
  ]
  expectOk(await worker.post(`checkpoint/${id}`, { body: snapshot(claimed, 'PAUSED', pausing) }))
  expect(expectOk(await a.send('GET', `/executions/${id}`)).output).toBe(5)
  expectOk(await a.resume(id, '{"go":true}'))
  const resumed = (await worker.frame('execution_resumed')).data.context
  expect(resumed).toMatchObject({ execution_id: id, state: 'RESUME_SCHEDULED' })
  expect(eventTypes(resumed).slice(-2)).toEqual(['WORKFLOW_RESUMING', 'WORKFLOW_RESUME_SCHEDULED'])
  const context = expectOk(await worker.post(`claim/${id}`))
  expect(context.state).toBe('RESUME_CLAIMED')
  expect(expectOk(await a.cancel(id)).state).toBe('CANCELLING')
  const cancelled = (await worker.frame('execution_cancelled')).data
  expect(Object.keys(cancelled)).toEqual(['context'])
  expect(cancelled.context).toMatchObject({ execution_id: id, state: 'CANCELLING' })
  for (const event of cancelled.context.events) expect(Object.keys(event).sort()).toEqual(SEVEN)
  const end = [workerEvent('WORKFLOW_CANCELLING'), workerEvent('WORKFLOW_CANCELLED')]
  expectOk(await worker.post(`checkpoint/${id}`, { body: snapshot(context, 'CANCELLED', end) }))
  expect((await a.read(id)).state).toBe('CANCELLED')
})

test('approval request: accepted, also for call ids with slashes', async () => {
  const a = await executionFixture(system(), 0)
  const worker = await connectWorker(system(), a.pool)
  await worker.connect()
  const id = await a.run()
  await worker.frame('execution_scheduled')
  expectOk(await worker.post(`claim/${id}`))
  const call_id = 'pay/for it_0011'
  const path = `approvals/${id}`
  expect(expectOk(await worker.get(`${path}/${encodeURI(call_id)}`))).toEqual({ approval: null })
  const body = JSON.stringify({ task_call_id: call_id, task_name: 'pay' })
  expect(expectOk(await worker.post(path, { body }))).toEqual({ status: 'created' })
  expect(expectOk(await worker.post(path, { body }))).toEqual({ status: 'exists' })
  const { approval } = expectOk(await worker.get(`${path}/${encodeURI(call_id)}`))
  expect(approval).toMatchObject({ status: 'pending', task_name: 'pay', workflow_name: a.name })
})

test('ended session: the pong gets 401, and the worker registers again', async () => {
  const pool = randomBytes(4).toString('hex')
  const worker = await connectWorker(system(), pool)
  const successor = await connectWorker(system(), pool, worker.name)
  expectOk(successor.registered)
  const begun = performance.now()
  const stream = await worker.connect()
  expect(stream.status).toBe(401)
  expect(stream.headers['content-type']).toBe('text/event-stream')
  await expect.poll(() => stream.ended, { timeout: HANG_MS }).toBe(true)
  expect(performance.now() - begun).toBeGreaterThan(2_500)
  expect(worker.frames.map(({ event }) => event)).toEqual(['ping'])
  expect((await worker.post('pong', { body: '{}' })).status).toBe(401)
  expect((await successor.connect()).status).toBe(200)
  await pause(500)
  expect(successor.frames.length).toBeGreaterThan(0)
})
