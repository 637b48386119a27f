import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { cron, every, hourly, INVALID_CONFIGS, once } from './invalid-schedule-cases.ts'

const undo: (() => unknown)[] = []
let auth: AuthSystem
const ALL = ['schedule:*:manage', 'schedule:*:read', 'workflow:*:*:run']

beforeAll(async () => {
  auth = await startAuthSystem((one) => undo.push(one))
  await auth.upload(workflowSource('x', 'x'))
})
afterAll(async () => {
  for (const one of undo.reverse()) await one()
})

let made = 0
const body = (given: object = {}) => ({
  workflow_name: 'x/x',
  name: `schedule ${++made}`,
  schedule_config: hourly,
  ...given,
})
const create = (given: object = {}, token = auth.admin) =>
  auth.ask('POST /schedules', { token, body: body(given) })
const idOf = ({ body }: { body: unknown }) => (body as { id: string }).id
const countOf = async () => {
  const { body } = await auth.ask('GET /schedules?active_only=false', { token: auth.admin })
  return (body as unknown[]).length
}

test.each(INVALID_CONFIGS)(
  '422 names %s of %j, and nothing is made (N129, N130, N131)',
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

test('a cron expression of a megabyte is refused at once (N129)', async () => {
  const answer = await create({ schedule_config: cron('* '.repeat(500_000)) })
  expect(answer.status).toBe(422)
  expect(answer.text.length).toBeLessThan(1_000)
})

test('a moment without a zone is local to the timezone, one far ahead is kept (N131)', async () => {
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
])('the name %j is refused with %i (N132)', async (name, status) => {
  const answer = await create({ name })
  expect(answer.status, answer.text).toBe(status)
  expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'name'] }] })
})

test('a name that is taken is a conflict, a declared one too (N132)', async () => {
  const { name } = (await create()).body as { name: string }
  expect((await create({ name })).status).toBe(409)
  const source = workflowSource('x', 'declared', ', schedule=interval(hours=1)')
  await auth.upload(source.replace('import ', 'import interval, '))
  expect((await create({ name: 'declared_auto' })).status).toBe(409)
})

test('what a source says of overlapping ticks is what its schedule does', async () => {
  const source = workflowSource('x', 'careful', ', schedule=interval(hours=1, overlap="queue")')
  const uploaded = await auth.upload(source.replace('import ', 'import interval, '))
  expect(uploaded.status, await uploaded.text()).toBe(200)
  const { body } = await auth.ask('GET /schedules/careful_auto', { token: auth.admin })
  expect(body).toMatchObject({ overlap: 'queue', schedule_config: { overlap: 'queue' } })
})

test('a list leaves the input out, rather than showing another one', async () => {
  const { name } = (await create({ input_data: { large: 1 } })).body as { name: string }
  const shown = await auth.ask(`GET /schedules/${encodeURIComponent(name)}`, {
    token: auth.admin,
  })
  const { input_data, ...row } = shown.body as Record<string, unknown>
  expect(input_data).toEqual({ large: 1 })
  const { body } = await auth.ask('GET /schedules?limit=1', { token: auth.admin })
  expect(body).toEqual([row])
})

test('what is unknown is 404, and a body with an unknown member 422', async () => {
  expect((await create({ workflow_name: 'x/absent' })).status).toBe(404)
  expect((await create({ run_as: 'somebody' })).status).toBe(422)
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
    const answer = await auth.ask(what, { token: auth.admin, body })
    expect(answer.status, what).toBe(404)
    expect(answer.body).toEqual({ detail: "Schedule 'absent' not found" })
  }
})

test('the right to manage schedules suffices for all but naming an account (N126, N127)', async () => {
  const manager = await auth.holding(['schedule:*:manage'])
  const { subject } = await auth.account(['operator'])
  const plain = await create({}, manager)
  expect(plain.status, plain.text).toBe(200)
  const path = `/schedules/${idOf(plain)}`
  const put = (change: object, token = manager) => auth.ask(`PUT ${path}`, { token, body: change })

  for (const answer of [
    await create({ run_as_service_account: subject }, manager),
    await put({ run_as_service_account: subject }),
  ]) {
    expect(answer.status, answer.text).toBe(403)
    expect(answer.text).toContain("requires 'admin:principals:manage'")
  }
  expect((await put({ run_as_service_account: subject }, auth.admin)).status).toBe(200)
  for (const change of [
    { input_data: 1 },
    { schedule_config: every(7_200) },
    { run_as_service_account: subject },
  ])
    expect((await put(change)).status).toBe(200)
  for (const verb of ['pause', 'resume'])
    expect((await auth.ask(`POST ${path}/${verb}`, { token: manager })).status).toBe(200)
  const { body } = await auth.ask(`GET ${path}`, { token: auth.admin })
  expect(body).toMatchObject({ run_as_service_account: subject, input_data: 1 })
})

test('an account may name itself', async () => {
  const { subject, key } = await auth.account(['operator'])
  expect((await create({ run_as_service_account: subject }, key)).status).toBe(200)
})

test('an account that is none, disabled or a person is refused (N128)', async () => {
  const { subject } = await auth.account(['operator'])
  await auth.must(`POST /admin/principals/${subject}/disable`)
  await auth.must('POST /admin/principals', { body: { type: 'user', subject: 'ada', roles: [] } })
  const before = await countOf()
  for (const account of ['absent', subject, 'ada']) {
    const answer = await create({ run_as_service_account: account })
    expect(answer.status, answer.text).toBe(400)
    expect(answer.text).toContain(`Service account '${account}'`)
  }
  expect(await countOf()).toBe(before)
})

const historyOf = async (id: string) => {
  const { body } = await auth.ask(`GET /schedules/${id}/history`, { token: auth.admin })
  return (
    body as { entries: { state: string; error: string | null; execution_id: string | null }[] }
  ).entries
}
const EVENTUALLY = { timeout: 20_000, interval: 100 }

test('who loses the right to run it has ticks that say so, and runs again when it is back (N128, T7)', async () => {
  const { subject, key } = await auth.account(['operator'])
  const answer = await create({ schedule_config: every(1) }, key)
  const id = idOf(answer)
  await expect
    .poll(async () => (await historyOf(id)).some((entry) => entry.execution_id), EVENTUALLY)
    .toBe(true)
  await auth.must(`DELETE /admin/principals/${subject}/roles/operator`)
  await expect
    .poll(async () => (await historyOf(id))[0], EVENTUALLY)
    .toMatchObject({
      state: 'SKIPPED',
      execution_id: null,
      error: expect.stringContaining(`not allowed: '${subject}' may not run x/x`),
    })
  await auth.must(`POST /admin/principals/${subject}/roles`, { body: { role: 'operator' } })
  await expect.poll(async () => (await historyOf(id))[0]?.state, EVENTUALLY).toBe('SCHEDULED')
  await auth.must(`DELETE /schedules/${id}`)
})

test('who may read one schedule sees it in a forecast, and no other', async () => {
  const [mine, other] = [idOf(await create()), idOf(await create())]
  const reader = await auth.holding([`schedule:${mine}:read`])
  const { status, text } = await auth.ask('GET /schedules/forecast?hours=24', { token: reader })
  expect(status).toBe(200)
  expect(text).toContain(mine)
  expect(text).not.toContain(other)
  expect((await auth.ask(`GET /schedules/${mine}/next`, { token: reader })).status).toBe(200)
  expect((await auth.ask(`GET /schedules/${other}/next`, { token: reader })).status).toBe(403)
  const stranger = await auth.holding(['workflow:x:x:run'])
  expect((await auth.ask('GET /schedules/forecast', { token: stranger })).status).toBe(403)
})

test('an agent makes schedules with its own rights, and a declared one runs as its uploader', async () => {
  const key = await auth.holding([...ALL, 'workflow:*:*:register'])
  const call = async (name: string, args: object) => {
    const response = await fetch(auth.system.mcpUrl, {
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
    return response.text()
  }
  const config = JSON.stringify(every(1))
  const said = await call('create_schedule', {
    ...{ workflow_name: 'x/x', name: 'made by an agent', schedule_config: config },
    input_data: '{"n":1}',
  })
  expect(said).toMatch(/success\\*":\s*true/)
  const source = workflowSource('x', 'ticking', ', schedule=interval(seconds=1)')
  const uploaded = await auth.upload(source.replace('import ', 'import interval, '), key)
  expect(uploaded.status, await uploaded.text()).toBe(200)
  for (const ref of ['made%20by%20an%20agent', 'ticking_auto']) {
    const ran = async () => (await historyOf(ref)).some((entry) => entry.execution_id)
    await expect.poll(ran, EVENTUALLY).toBe(true)
    await auth.must(`DELETE /schedules/${ref}`)
  }
})
