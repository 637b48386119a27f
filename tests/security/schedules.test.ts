import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { cron, every, hourly, INVALID_CONFIGS, once } from './invalid-schedule-cases.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem
const ALL = ['schedule:*:manage', 'schedule:*:read', 'workflow:*:*:run']

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one))
  await auth.upload(workflowSource('x', 'x'))
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

let made = 0
const body = (given: object = {}) => ({
  workflow_name: 'x/x',
  name: `schedule ${++made}`,
  schedule_config: hourly,
  ...given,
})
const create = (given: object = {}, token = auth.admin) =>
  auth.request('POST /schedules', { token, body: body(given) })
const idOf = ({ body }: { body: unknown }) => (body as { id: string }).id
const countOf = async () => {
  const { body } = await auth.request('GET /schedules?active_only=false', { token: auth.admin })
  return (body as unknown[]).length
}

test.each(INVALID_CONFIGS)(
  'N129, N130, N131: invalid %s in %j: 422 names it, no schedule is created',
  async (member, schedule_config) => {
    const before = await countOf()
    const answer = await create({ schedule_config })
    expect(answer.status, answer.text).toBe(422)
    expect(answer.body).toMatchObject({
      detail: [{ loc: ['body', 'schedule_config', member], msg: expect.any(String) }],
    })
    expect(await countOf()).toBe(before)
  },
)

test('N129: cron expression of a megabyte: 422', async () => {
  const answer = await create({ schedule_config: cron('* '.repeat(500_000)) })
  expect(answer.status).toBe(422)
  expect(answer.text.length).toBeLessThan(1_000)
})

test('N131: run_time without an offset: local to the timezone; year 9999: accepted', async () => {
  const local = await create({
    schedule_config: once('2099-07-01T12:00:00', { timezone: 'Europe/Berlin' }),
  })
  expect(local.body).toMatchObject({ next_run_at: '2099-07-01T10:00:00.000Z' })
  const far = await create({ schedule_config: once('9999-12-31T23:59:59Z') })
  expect(far.body).toMatchObject({ next_run_at: '9999-12-31T23:59:59.000Z' })
})

test.each([
  ['..', 422],
  ['a/b', 422],
  ['', 422],
  [' padded ', 422],
  ['0123456789abcdef0123456789abcdef', 422],
  ['forecast', 422],
  ['x'.repeat(256), 422],
])('N132: schedule name %j: %i', async (name, status) => {
  const answer = await create({ name })
  expect(answer.status, answer.text).toBe(status)
  expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'name'] }] })
})

test('N132: duplicate name: 409, also for a schedule that a source declares', async () => {
  const { name } = (await create()).body as { name: string }
  expect((await create({ name })).status).toBe(409)
  const source = workflowSource('x', 'declared', ', schedule=interval(hours=1)')
  await auth.upload(source.replace('import ', 'import interval, '))
  expect((await create({ name: 'declared_auto' })).status).toBe(409)
})

test('overlap declared in the source: the schedule has this policy', async () => {
  const source = workflowSource('x', 'careful', ', schedule=interval(hours=1, overlap="queue")')
  const uploaded = await auth.upload(source.replace('import ', 'import interval, '))
  expect(uploaded.status, await uploaded.text()).toBe(200)
  const { body } = await auth.request('GET /schedules/careful_auto', { token: auth.admin })
  expect(body).toMatchObject({ overlap: 'queue', schedule_config: { overlap: 'queue' } })
})

test('list of schedules: has no input_data and no revision; the single schedule has both', async () => {
  const { name } = (await create({ input_data: { large: 1 } })).body as { name: string }
  const shown = await auth.request(`GET /schedules/${encodeURIComponent(name)}`, {
    token: auth.admin,
  })
  const { input_data, revision, ...row } = shown.body as Record<string, unknown>
  expect([input_data, revision]).toEqual([{ large: 1 }, expect.any(String)])
  const { body } = await auth.request('GET /schedules?limit=1', { token: auth.admin })
  expect(body).toEqual([row])
})

test('unknown schedule or workflow: 404; unknown or invalid member: 422', async () => {
  expect((await create({ workflow_name: 'x/absent' })).status).toBe(404)
  expect((await create({ run_as: 'another' })).status).toBe(422)
  expect((await create({ overlap: 'sometimes' })).status).toBe(422)
  const absent: [what: string, body?: object][] = [
    ['GET /schedules/absent'],
    ['PUT /schedules/absent', {}],
    ['DELETE /schedules/absent'],
    ['GET /schedules/absent/next'],
    ['GET /schedules/absent/history'],
    ['POST /schedules/absent/pause'],
    ['POST /schedules/absent/resume'],
  ]
  for (const [what, body] of absent) {
    const answer = await auth.request(what, { token: auth.admin, body })
    expect(answer.status, what).toBe(404)
    expect(answer.body).toEqual({ detail: "Schedule 'absent' not found" })
  }
})

test('N126, N127: schedule:*:manage: allows everything but setting run_as_service_account', async () => {
  const manager = await auth.keyWith(['schedule:*:manage'])
  const { subject } = await auth.createAccount(['operator'])
  const plain = await create({}, manager)
  expect(plain.status, plain.text).toBe(200)
  const path = `/schedules/${idOf(plain)}`
  const put = (change: object, token = manager) =>
    auth.request(`PUT ${path}`, { token, body: change })

  for (const answer of [
    await create({ run_as_service_account: subject }, manager),
    await put({ run_as_service_account: subject }),
  ]) {
    expect(answer.status, answer.text).toBe(403)
    expect(answer.text).toContain("requires 'admin:principals:manage'")
  }
  expect((await put({ run_as_service_account: subject }, auth.admin)).status).toBe(200)
  for (const change of [{ description: 'x' }, { run_as_service_account: subject }]) {
    const { status, body } = await put(change)
    expect([status, body]).toMatchObject([200, { run_as_service_account: subject }])
  }
  const named = await put({ run_as_service_account: subject, input_data: 1 })
  expect([named.status, named.text]).toEqual([403, expect.stringContaining('admin:principals')])
})

test('run_as_service_account is the caller: accepted', async () => {
  const { subject, key } = await auth.createAccount(['operator'])
  expect((await create({ run_as_service_account: subject }, key)).status).toBe(200)
})

test('N128: run_as_service_account is absent, disabled or a user: 400', async () => {
  const { subject } = await auth.createAccount(['operator'])
  await auth.requestOk(`POST /admin/principals/${subject}/disable`)
  await auth.requestOk('POST /admin/principals', {
    body: { type: 'user', subject: 'ada', roles: [] },
  })
  const before = await countOf()
  for (const account of ['absent', subject, 'ada']) {
    const answer = await create({ run_as_service_account: account })
    expect(answer.status, answer.text).toBe(400)
    expect(answer.text).toContain(`Service account '${account}'`)
  }
  expect(await countOf()).toBe(before)
})

const historyOf = async (id: string) => {
  const { body } = await auth.request(`GET /schedules/${id}/history`, { token: auth.admin })
  return (
    body as { entries: { state: string; error: string | null; execution_id: string | null }[] }
  ).entries
}
const EVENTUALLY = { interval: 100 }

test('N128, T7: account loses its run permission: ticks are skipped with the reason until it is back', async () => {
  const { subject, key } = await auth.createAccount(['operator'])
  const answer = await create({ schedule_config: every(1) }, key)
  const id = idOf(answer)
  await expect
    .poll(async () => (await historyOf(id)).some((entry) => entry.execution_id), EVENTUALLY)
    .toBe(true)
  await auth.requestOk(`DELETE /admin/principals/${subject}/roles/operator`)
  await expect
    .poll(async () => (await historyOf(id))[0], EVENTUALLY)
    .toMatchObject({
      state: 'SKIPPED',
      execution_id: null,
      error: expect.stringContaining(`not allowed: '${subject}' may not run x/x`),
    })
  await auth.requestOk(`POST /admin/principals/${subject}/roles`, { body: { role: 'operator' } })
  await expect.poll(async () => (await historyOf(id))[0]?.state, EVENTUALLY).toBe('SCHEDULED')
  await auth.requestOk(`DELETE /schedules/${id}`)
})

test('permission for one schedule: the forecast shows this one only', async () => {
  const [mine, other] = [idOf(await create()), idOf(await create())]
  const reader = await auth.keyWith([`schedule:${mine}:read`])
  const { status, text } = await auth.request('GET /schedules/forecast?hours=24', { token: reader })
  expect(status).toBe(200)
  expect(text).toContain(mine)
  expect(text).not.toContain(other)
  expect((await auth.request(`GET /schedules/${mine}/next`, { token: reader })).status).toBe(200)
  expect((await auth.request(`GET /schedules/${other}/next`, { token: reader })).status).toBe(403)
  const unrelated = await auth.keyWith(['workflow:x:x:run'])
  expect((await auth.request('GET /schedules/forecast', { token: unrelated })).status).toBe(403)
})

test('schedule created over MCP or declared in a source: runs with the permissions of its creator', async () => {
  const key = await auth.keyWith([...ALL, 'workflow:*:*:register'])
  const call = async (name: string, args: object) => {
    const reply = await fetch(auth.system.mcpUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${key}`,
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name, arguments: args },
      }),
    })
    return reply.text()
  }
  const config = JSON.stringify(every(1))
  const response = await call('create_schedule', {
    ...{ workflow_name: 'x/x', name: 'made by an agent', schedule_config: config },
    input_data: '{"n":1}',
  })
  expect(response).toMatch(/success\\*":\s*true/)
  const source = workflowSource('x', 'ticking', ', schedule=interval(seconds=1)')
  const uploaded = await auth.upload(source.replace('import ', 'import interval, '), key)
  expect(uploaded.status, await uploaded.text()).toBe(200)
  for (const ref of ['made%20by%20an%20agent', 'ticking_auto']) {
    const ran = async () => (await historyOf(ref)).some((entry) => entry.execution_id)
    await expect.poll(ran, EVENTUALLY).toBe(true)
    await auth.requestOk(`DELETE /schedules/${ref}`)
  }
})
