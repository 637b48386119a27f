import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'
import { hourly } from './invalid-schedule-cases.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one))
  for (const namespace of ['one', 'two'])
    for (const name of ['x', 'y']) await auth.upload(workflowSource(namespace, name))
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

const namesOf = ({ body }: { body: unknown }) =>
  (body as { name: string }[]).map(({ name }) => name).sort()

const newSchedule = (workflow_name: string, name: string) => ({
  ...{ workflow_name, name, schedule_config: hourly },
})

const DENIED_MANAGE = "Permission denied: requires 'schedule:*:manage'"

test('schedule:<namespace>:*: manages and reads the schedules of this namespace, no others', async () => {
  const token = await auth.keyWith(['schedule:one:*'])
  await auth.requestOk('POST /schedules', { body: newSchedule('two/x', 'theirs') })
  const mine = await auth.requestOk('POST /schedules', {
    token,
    body: newSchedule('one/x', 'mine'),
  })

  for (const [what, body] of [
    ['GET /schedules/mine'],
    ['GET /schedules/mine/next'],
    ['GET /schedules/mine/history'],
    ['PUT /schedules/mine', { description: 'x' }],
    ['POST /schedules/mine/pause'],
    ['POST /schedules/mine/resume'],
  ] as [string, object?][])
    for (const ref of ['mine', mine.id]) {
      const request = what.replace('/mine', `/${ref}`)
      expect((await auth.request(request, { token, body })).status, request).toBe(200)
    }
  const listed = await auth.request('GET /schedules', { token })
  expect(namesOf(listed)).toEqual(['mine'])
  const { text } = await auth.request('GET /schedules/forecast?hours=24', { token })
  expect([text.includes('mine'), text.includes('theirs')]).toEqual([true, false])

  for (const ref of ['theirs', 'absent'])
    for (const what of ['PUT', 'POST /pause', 'POST /resume', 'DELETE']) {
      const [method, action = ''] = what.split(' ')
      const body = method === 'PUT' ? { description: 'x' } : undefined
      const refused = await auth.request(`${method} /schedules/${ref}${action}`, { token, body })
      expect([what, refused.status, refused.body]).toEqual([what, 403, { detail: DENIED_MANAGE }])
    }
  for (const ref of ['theirs', 'absent'])
    for (const path of ['', '/next', '/history'])
      expect((await auth.request(`GET /schedules/${ref}${path}`, { token })).status).toBe(403)
  const foreign = await auth.request('POST /schedules', { token, body: newSchedule('two/x', 'n') })
  expect([foreign.status, foreign.text]).toEqual([403, expect.stringContaining('schedule:two:x')])
  expect((await auth.request('DELETE /schedules/mine', { token })).status).toBe(200)
})

test('schedule:<namespace>:<workflow>:read: neither other workflows nor changes', async () => {
  const token = await auth.keyWith(['schedule:one:y:read'])
  await auth.requestOk('POST /schedules', { body: newSchedule('one/y', 'readable') })
  await auth.requestOk('POST /schedules', { body: newSchedule('one/x', 'unreadable') })
  expect(namesOf(await auth.request('GET /schedules', { token }))).toEqual(['readable'])
  for (const [what, status] of [
    ['GET /schedules/readable', 200],
    ['GET /schedules/unreadable', 403],
    ['POST /schedules/readable/pause', 403],
  ] as const)
    expect([what, (await auth.request(what, { token })).status]).toEqual([what, status])
  const body = newSchedule('one/y', 'new')
  expect((await auth.request('POST /schedules', { token, body })).status).toBe(403)
})

test('schedule of a stronger account changed or resumed by a manager: runs as the manager', async () => {
  const { subject, key } = await auth.createAccount(['operator'])
  const manager = await auth.keyWith(['schedule:*:manage', 'schedule:*:read'])
  const changes: [what: string, body?: object][] = [
    ['PUT ', { input_data: { rm: '/' } }],
    ['PUT ', { schedule_config: { type: 'interval', interval_seconds: 7_200 } }],
    ['PUT ', { overlap: 'skip' }],
    ['POST /resume'],
  ]
  for (const [i, [what, body]] of changes.entries()) {
    const [method, action] = what.split(' ')
    const created = await auth.requestOk('POST /schedules', {
      body: { ...newSchedule('one/x', `strong ${i}`), run_as_service_account: subject },
    })
    const path = `/schedules/${created.id}`
    await auth.requestOk(`POST ${path}/pause`)
    const request = `${method} ${path}${action}`
    for (const [token, account] of [
      [auth.admin, subject],
      [key, subject],
      [manager, null],
    ] as const) {
      const changed = await auth.request(request, { token, body })
      expect([what, changed.status, changed.body]).toMatchObject([
        what,
        200,
        { run_as_service_account: account },
      ])
      await auth.requestOk(`POST ${path}/pause`)
    }
  }
})

test('execution:<namespace>:<workflow>:read: executions of this workflow, in totals too', async () => {
  const ids = new Map<string, string>()
  for (const ref of ['one/x', 'one/y', 'two/x']) {
    const run = await auth.requestOk(`POST /workflows/${ref}/run/async`, { body: null })
    ids.set(ref, run.execution_id ?? '')
  }
  const seen = async (permission: string) => {
    const token = await auth.keyWith([permission])
    const { body } = await auth.request('GET /executions', { token })
    const { executions, total } = body as { executions: { execution_id: string }[]; total: number }
    expect(total).toBe(executions.length)
    return executions.map(({ execution_id }) => execution_id)
  }
  expect(await seen('execution:one:x:read')).toEqual([ids.get('one/x')])
  expect(await seen('execution:one:*')).toEqual([ids.get('one/y'), ids.get('one/x')])
  expect(await seen('execution:*:x:read')).toEqual([ids.get('two/x'), ids.get('one/x')])

  const token = await auth.keyWith(['execution:one:*'])
  for (const path of ['', '?detailed=true', '/events', '/explain', '?mode=stream']) {
    const statuses: unknown[] = []
    for (const id of [ids.get('one/x'), ids.get('two/x'), 'f'.repeat(32)]) {
      const needed = { detail: `Permission denied: requires 'execution:${id}:read'` }
      const { status, body } = await auth.request(`GET /executions/${id}${path}`, { token })
      statuses.push(status)
      if (status === 403) expect(body).toEqual(needed)
    }
    expect([path, ...statuses]).toEqual([path, 200, 403, 403])
  }
})

test('answers to a caller that may only run: have no log', async () => {
  const runner = await auth.keyWith(['workflow:one:x:run'])
  const reader = await auth.keyWith(['workflow:one:x:run', 'workflow:one:x:read'])
  const eventsOf = async (what: string, token: string) => {
    const sent = what.startsWith('POST') ? { body: null } : {}
    const { status, body, text } = await auth.request(what, { token, ...sent })
    expect(status, text).toBe(200)
    return (body as { events?: unknown[] }).events
  }
  const run = 'POST /workflows/one/x/run/async?detailed=true'
  expect(await eventsOf(run, runner)).toBeUndefined()
  expect(await eventsOf(run, reader)).toBeInstanceOf(Array)
  const sync = 'POST /workflows/one/x/run/sync?detailed=true&timeout=0'
  expect(await eventsOf(sync, runner)).toBeUndefined()
  const { execution_id: id } = await auth.requestOk(run, { body: null })
  const cancel = `GET /workflows/one/x/cancel/${id}?detailed=true`
  expect(await eventsOf(cancel, runner)).toBeUndefined()
})
