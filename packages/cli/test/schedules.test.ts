import { expect, test } from 'vitest'
import { cliFixture } from './cli-fixture.ts'

const ID = '0123456789abcdef0123456789abcdef'

test('schedule commands in turn: create, list, next, forecast, history, pause and delete one', async () => {
  const { api, windlass } = await cliFixture()
  const schedule = `{"id":"${ID}","name":"nightly","workflow_name":"report","status":"active"}`
  const at = '2030-01-01T00:00:00.000Z'
  api.answers.set('POST /schedules', { body: schedule })
  api.answers.set('GET /schedules?active_only=false', { body: `[${schedule}]` })
  api.answers.set('GET /schedules/nightly/next?count=1', {
    body: `{"next":[{"at":"${at}","local":"2030-01-01T01:00:00+01:00"}]}`,
  })
  api.answers.set('GET /schedules/forecast?hours=24', {
    body: `{"ticks":[{"at":"${at}","schedule_id":"${ID}"}],"schedules":[{"schedule_id":"${ID}","name":"nightly","workflow_namespace":"team","workflow_name":"report"}]}`,
  })
  api.answers.set('GET /schedules/nightly/history', {
    body: `{"entries":[{"scheduled_for":"${at}","state":"SKIPPED","execution_id":null,"error":"late"}]}`,
  })
  api.answers.set('POST /schedules/nightly/pause', { body: schedule })
  api.answers.set('DELETE /schedules/nightly', { body: '{"status":"success"}' })

  const config = '{"type":"interval","interval_seconds":1.0}'
  const made = ['schedule', 'create', 'nightly', 'team/report', config, '1', '--overlap', 'skip']
  expect((await windlass(...made)).status).toBe(0)
  expect(api.seen[0]?.body).toBe(
    `{"name":"nightly","workflow_name":"team/report","schedule_config":${config},"input_data":1,"overlap":"skip"}`,
  )
  expect((await windlass('schedule', 'list')).out).toContain('nightly')
  expect((await windlass('schedule', 'next', 'nightly', '--count', '1')).out).toContain('+01:00')
  const { out } = await windlass('schedule', 'forecast', '--hours', '24')
  expect(out).toMatch(/2030-01-01T00:00:00.000Z +nightly +team\/report/)
  expect((await windlass('schedule', 'history', 'nightly')).out).toMatch(/SKIPPED +late/)
  expect((await windlass('schedule', 'pause', 'nightly')).out).toContain('"active"')
  expect((await windlass('schedule', 'delete', 'nightly')).out).toContain('success')
  expect((await windlass('schedule', 'show', 'a/b')).status).not.toBe(0)
})

test('schedule update: sends what the options name, unchanged', async () => {
  const { api, windlass } = await cliFixture()
  api.answers.set('PUT /schedules/nightly', { body: '{"name":"nightly"}' })
  const update = (...options: string[]) => windlass('schedule', 'update', 'nightly', ...options)
  const config = '{"type":"interval","interval_seconds":1.0}'
  const input = '{"n": 9007199254740993}'
  const rest = ['--overlap', 'queue', '--run-as', 'ci', '--description', 'a "b"']
  expect(await update('--config', config, '--input', input, ...rest)).toEqual({
    ...{ status: 0, out: '{"name":"nightly"}\n', err: '' },
  })
  expect(api.seen[0]?.body).toBe(
    `{"schedule_config":${config},"input_data":${input},"overlap":"queue","run_as_service_account":"ci","description":"a \\"b\\""}`,
  )
  await update('--description', '')
  expect(api.seen[1]?.body).toBe('{"description":""}')
})

test('schedule update that names no change, or one that the server ignores: exit status 2', async () => {
  const { api, windlass } = await cliFixture()
  for (const options of [
    [],
    ['--input', 'null'],
    ['--config', 'every day'],
    ['--config', '-', '--input', '-'],
  ])
    expect((await windlass('schedule', 'update', 'nightly', ...options)).status).toBe(2)
  expect(api.seen).toEqual([])
})

test('schedule update --if-revision: sends it as If-Match, and says why the server refused', async () => {
  const { api, windlass } = await cliFixture()
  const msg = 'the schedule does not have this revision any more'
  const body = `{"detail":[{"loc":["header","If-Match"],"msg":"${msg}","type":"precondition_failed"}]}`
  api.answers.set('PUT /schedules/nightly', { status: 412, body })
  const update = (revision: string) =>
    windlass('schedule', 'update', 'nightly', '--overlap', 'skip', '--if-revision', revision)
  const refused = await update('ab12')
  expect(refused.status).toBe(1)
  expect(refused.err).toContain(`(412): header.If-Match: ${msg}`)
  expect(api.seen[0]?.headers['if-match']).toBe('"ab12"')
  expect((await update('"ab12"')).status).toBe(2)
  expect(api.seen).toHaveLength(1)
})
