import { preconditionFailed } from '@windlass/domain/revision'
import type { Schedule } from '@windlass/proto/windlass/scheduler/v1/scheduler'
import { expect, test } from 'vitest'
import { startGateway } from './gateway-fixture.ts'

const get = async (made: Awaited<ReturnType<typeof startGateway>>, path: string) =>
  (await made.call('GET', path)).json()

const SCHEDULE: Schedule = {
  id: '3'.repeat(32),
  workflow_id: '4'.repeat(32),
  workflow_namespace: 'default',
  workflow_name: 'hello',
  name: 'nightly run',
  schedule_type: 'cron',
  status: 'active',
  created_at: new Date('2026-01-01T00:00:00Z'),
  updated_at: new Date('2026-01-01T00:00:00Z'),
  last_run_at: undefined,
  next_run_at: new Date('2026-01-02T03:00:00Z'),
  run_count: 1,
  failure_count: 0,
  schedule_config_json: '{"type":"cron", "cron_expression":"0 3 * * *"}',
  input_json: '9007199254740993',
  overlap: 'allow',
}

test('a schedule: configuration and input are passed on byte for byte', async () => {
  const requests: Record<string, unknown>[] = []
  const record = async (request: object) => {
    requests.push(request as Record<string, unknown>)
    return SCHEDULE
  }
  const made = await startGateway({
    scheduler: { create: record, update: record, get: record, pause: record, resume: record },
  })
  const body =
    '{"workflow_name":"n1/hello","name":"nightly run","schedule_config": {"interval_seconds":1.0} ,"input_data":9007199254740993}'
  const response = await made.call('POST', '/schedules', { body: Buffer.from(body) })
  expect(response.status).toBe(200)
  const text = await response.text()
  expect(text).toContain('"schedule_config":{"type":"cron", "cron_expression":"0 3 * * *"}')
  expect(text).toContain('"input_data":9007199254740993')
  expect(JSON.parse(text)).toMatchObject({
    id: SCHEDULE.id,
    description: null,
    last_run_at: null,
    next_run_at: '2026-01-02T03:00:00.000Z',
    run_as_service_account: null,
  })
  await made.json('PUT', '/schedules/nightly%20run', { description: 'x', input_data: null })
  for (const verb of ['pause', 'resume'])
    expect((await made.call('POST', `/schedules/${SCHEDULE.id}/${verb}`)).status).toBe(200)
  expect((await made.call('GET', '/schedules/nightly%20run')).status).toBe(200)
  expect(requests).toMatchObject([
    {
      workflow_namespace: 'n1',
      workflow_name: 'hello',
      schedule_config_json: '{"interval_seconds":1.0}',
      input_json: '9007199254740993',
    },
    { ref: 'nightly run', description: 'x' },
    { ref: SCHEDULE.id },
    { ref: SCHEDULE.id },
    { ref: 'nightly run' },
  ])
  expect(requests[1]?.input_json).toBeUndefined()
})

test('schedule lists: an array of schedules; the history is a page', async () => {
  const requests: unknown[] = []
  const made = await startGateway({
    scheduler: {
      async list(request) {
        requests.push(request)
        return { schedules: [SCHEDULE], total: 1, filtered: true }
      },
      history: async () => ({
        schedule_id: SCHEDULE.id,
        workflow_name: 'hello',
        entries: [
          {
            execution_id: '',
            workflow_name: 'hello',
            state: 'SKIPPED',
            scheduled_for: new Date('2026-01-01T00:00:00Z'),
            started_at: undefined,
            completed_at: undefined,
            error: 'too late',
          },
        ],
        total: 1,
      }),
      delete: async () => ({}),
    },
  })
  expect(await get(made, '/schedules?workflow_name=a/b&active_only=false')).toMatchObject([
    { name: 'nightly run' },
  ])
  await get(made, '/schedules?workflow_name=b')
  expect(requests).toMatchObject([
    { workflow_namespace: 'a', workflow_name: 'b', active_only: false, limit: 1000, offset: 0 },
    { workflow_namespace: '', workflow_name: 'b', active_only: true },
  ])
  expect(await get(made, `/schedules/${SCHEDULE.id}/history?limit=2`)).toEqual({
    schedule_id: SCHEDULE.id,
    workflow_name: 'hello',
    entries: [
      {
        execution_id: null,
        workflow_name: 'hello',
        state: 'SKIPPED',
        scheduled_for: '2026-01-01T00:00:00.000Z',
        started_at: null,
        completed_at: null,
        error: 'too late',
      },
    ],
    total: 1,
    limit: 2,
    offset: 0,
  })
  expect(await (await made.call('DELETE', '/schedules/nightly')).json()).toEqual({
    status: 'success',
    message: "Schedule 'nightly' deleted successfully",
  })
})

test('next and forecast: the ticks, clock changes and clashes of the scheduler', async () => {
  const requests: unknown[] = []
  const at = new Date('2026-03-08T07:00:00Z')
  const change = {
    at,
    kind: 'gap',
    timezone: 'America/New_York',
    local_times: ['2026-03-08T02:30:00'],
    fires_at: [at],
  }
  const made = await startGateway({
    scheduler: {
      get: async () => SCHEDULE,
      async next(request) {
        requests.push(request)
        const ticks = [{ at, local: '2026-03-08T03:00:00-04:00' }]
        return { schedule: SCHEDULE, timezone: 'America/New_York', ticks, clock_changes: [change] }
      },
      async forecast(request) {
        requests.push(request)
        const clash = { at, count: 2, schedule_ids: ['a', 'b'], workflows: ['n/w'] }
        return {
          ...FORECAST,
          from: at,
          to: at,
          ticks: [{ at, schedule_id: 'a' }],
          clashes: [clash],
        }
      },
    },
  })
  const changeView = { ...change, at: at.toISOString(), fires_at: [at.toISOString()] }
  expect(await get(made, '/schedules/nightly%20run/next?count=3')).toEqual({
    schedule_id: SCHEDULE.id,
    name: 'nightly run',
    status: 'active',
    timezone: 'America/New_York',
    next: [{ at: '2026-03-08T07:00:00.000Z', local: '2026-03-08T03:00:00-04:00' }],
    clock_changes: [changeView],
  })
  expect(await get(made, '/schedules/forecast')).toMatchObject({
    from: at.toISOString(),
    complete_until: null,
    ticks: [{ at: at.toISOString(), schedule_id: 'a' }],
    clashes: [{ count: 2, workflows: ['n/w'] }],
  })
  expect(requests).toEqual([
    { ref: SCHEDULE.id, count: 3 },
    { hours: 168, limit: 1_000, all: true, ids: [], workflows: [] },
  ])
  for (const wrong of [
    '/schedules/forecast?hours=0',
    '/schedules/forecast?hours=8785',
    '/schedules/forecast?hours=x',
    '/schedules/forecast?limit=10001',
    '/schedules/a/next?count=0',
    '/schedules/a/next?count=1001',
  ])
    expect((await made.call('GET', wrong)).status, wrong).toBe(422)
  expect(requests).toHaveLength(2)
})

const FORECAST = { schedules: [], looked_at: 0, active: 0, complete_until: undefined }

test('one schedule: its revision is a member and the ETag; rows of a list have none', async () => {
  const schedule = { ...SCHEDULE, revision: 'r1' }
  const made = await startGateway({
    scheduler: {
      get: async () => schedule,
      list: async () => ({ schedules: [schedule], total: 1, filtered: true }),
    },
  })
  const answer = await made.call('GET', '/schedules/nightly')
  expect(answer.headers.get('etag')).toBe('"r1"')
  expect(await answer.json()).toMatchObject({ revision: 'r1' })
  const [row] = (await get(made, '/schedules')) as unknown[]
  expect(row).not.toHaveProperty('revision')
})

test('a change with If-Match: made for its revision, else 412 names the header; without it, as before', async () => {
  const requests: unknown[] = []
  const made = await startGateway({
    scheduler: {
      async update(request) {
        requests.push(request)
        return SCHEDULE
      },
      async updateIf({ update, precondition }) {
        requests.push(precondition)
        if (!update || !precondition?.revisions.includes('r1'))
          throw preconditionFailed('schedule', { revisions: [], any: false, absent: false })
        return { ...SCHEDULE, revision: 'r2' }
      },
    },
  })
  const change = (headers: Record<string, string>) =>
    made.json('PUT', '/schedules/nightly', { description: 'x' }, headers)
  const changed = await change({ 'if-match': '"r1"' })
  expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"r2"'])
  const refused = await change({ 'if-match': '"r0"' })
  expect([refused.status, refused.headers.get('etag')]).toEqual([412, null])
  expect(await refused.json()).toMatchObject({
    detail: [{ loc: ['header', 'If-Match'], type: 'precondition_failed' }],
  })
  expect((await change({ 'if-match': 'r1' })).status).toBe(422)
  const plain = await change({})
  expect([plain.status, plain.headers.get('etag')]).toEqual([200, null])
  expect(await plain.json()).toMatchObject({ revision: null })
  expect(requests).toMatchObject([
    { revisions: ['r1'] },
    { revisions: ['r0'] },
    { ref: 'nightly', description: 'x' },
  ])
})
