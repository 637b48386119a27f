import { newId } from '@windlass/runtime/ids'
import { expect, test } from 'vitest'
import {
  ALL,
  callAs,
  everySeconds,
  newName,
  onceInHours,
  request,
  schedulerFixture,
} from './scheduler-fixture.ts'

const dashed = (id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

test('get: by id, with or without dashes, or by name', async () => {
  const { replica, catalog } = await schedulerFixture()
  const client = await replica()
  const workflow = catalog.put('team', 'report')
  const made = await client.create({ ...request({ input_json: '{"n": 1.0}' }), description: 'x' })

  expect(made).toMatchObject({
    workflow_id: workflow.id,
    workflow_namespace: 'team',
    workflow_name: 'report',
    description: 'x',
    schedule_type: 'interval',
    status: 'active',
    run_count: 0,
    failure_count: 0,
    schedule_config_json: everySeconds(3_600),
    input_json: '{"n": 1.0}',
  })
  expect(made.next_run_at?.getTime()).toBeGreaterThan(Date.now() + 3_500_000)
  for (const ref of [made.id, dashed(made.id), dashed(made.id).toUpperCase(), made.name])
    expect(await client.get({ ref })).toEqual(made)
})

test('unknown schedule: every call answers not_found', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()

  for (const ref of [newId(), newName(), '', '..', '\u0001']) {
    const calls = [
      client.get({ ref }),
      client.pause({ ref }),
      client.resume({ ref }),
      client.delete({ ref }),
      client.update({ ref, description: 'x' }),
      client.history({ ref, limit: 0, offset: 0 }),
    ]
    for (const answer of await Promise.allSettled(calls))
      expect(answer).toMatchObject({ status: 'rejected', reason: { kind: 'not_found' } })
  }
})

test('concurrent creates of one name: one succeeds; the name is free after a delete', async () => {
  const { replica } = await schedulerFixture()
  const [a, b] = [await replica(), await replica()]
  const name = newName()

  const calls = Array.from({ length: 10 }, (_, i) => (i % 2 ? a : b).create(request({ name })))
  const answers = await Promise.allSettled(calls)
  const refused = answers.filter((answer) => answer.status === 'rejected')
  expect(refused).toHaveLength(9)
  for (const { reason } of refused) expect(reason).toMatchObject({ kind: 'conflict' })

  await a.delete({ ref: name })
  await expect(a.get({ ref: name })).rejects.toMatchObject({ kind: 'not_found' })
  await b.create(request({ name }))
})

test('create: requires an existing workflow; its name may include the namespace', async () => {
  const { replica, catalog } = await schedulerFixture()
  const client = await replica()
  catalog.put('default', 'plain')

  const unknown = { ...request(), workflow_name: 'other' }
  await expect(client.create(unknown)).rejects.toMatchObject({ kind: 'not_found' })
  const inDefault = { ...request(), workflow_namespace: '', workflow_name: 'plain' }
  expect(await client.create(inDefault)).toMatchObject({ workflow_namespace: 'default' })
  const joined = { ...request(), workflow_namespace: '', workflow_name: 'team/report' }
  expect(await client.create(joined)).toMatchObject({ workflow_namespace: 'team' })
})

test('invalid configuration: refused after an unknown workflow or schedule and after a taken name', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  const bad = '{"type":"cron"}'

  const unknown = { ...request({ config: bad }), workflow_name: 'other' }
  await expect(client.create(unknown)).rejects.toMatchObject({ kind: 'not_found' })
  const { name } = await client.create(request())
  const taken = request({ name, config: bad })
  await expect(client.create(taken)).rejects.toMatchObject({ kind: 'conflict' })
  const update = { ref: newName(), schedule_config_json: bad }
  await expect(client.update(update)).rejects.toMatchObject({ kind: 'not_found' })
})

test('invalid configuration or name: unprocessable, and nothing is stored', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()

  for (const bad of [{ config: '{"type":"cron"}' }, { config: onceInHours(-1) }, { name: 'a/b' }])
    await expect(client.create(request(bad))).rejects.toMatchObject({ kind: 'unprocessable' })
  const all = { workflow_namespace: '', workflow_name: '', active_only: false, visible: ALL }
  expect(await client.list({ ...all, limit: 10, offset: 0 })).toMatchObject({
    schedules: [],
    total: 0,
  })
})

test('catalog unavailable: create answers unavailable', async () => {
  const { replica, catalog } = await schedulerFixture()
  const client = await replica()
  catalog.script.down = true

  await expect(client.create(request())).rejects.toMatchObject({ kind: 'unavailable' })
})

test('list: newest first, paged, filtered by workflow and status', async () => {
  const { replica, catalog } = await schedulerFixture()
  const client = await replica()
  catalog.put('other', 'report')
  catalog.put('team', 'digest')
  const first = await client.create(request())
  const second = await client.create({ ...request(), workflow_namespace: 'other' })
  const third = await client.create({ ...request(), workflow_name: 'digest' })
  await client.pause({ ref: second.id })

  const listed = async (filter: object) => {
    const all = {
      workflow_namespace: '',
      workflow_name: '',
      active_only: false,
      visible: ALL,
      limit: 0,
      offset: 0,
    }
    const { schedules, total } = await client.list({ ...all, ...filter })
    return { ids: schedules.map(({ id }) => id), total }
  }
  expect(await listed({})).toEqual({ ids: [third.id, second.id, first.id], total: 3 })
  expect(await listed({ limit: 1, offset: 1 })).toEqual({ ids: [second.id], total: 3 })
  expect(await listed({ active_only: true })).toEqual({ ids: [third.id, first.id], total: 2 })
  expect(await listed({ workflow_name: 'report' })).toEqual({
    ids: [second.id, first.id],
    total: 2,
  })
  expect(await listed({ workflow_namespace: 'team', workflow_name: 'report' })).toEqual({
    ids: [first.id],
    total: 1,
  })
})

test('update: changes the given members and keeps the others', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  const made = await client.create({ ...request({ input_json: '1' }), description: 'stays' })

  const touched = await client.update({ ref: made.name, input_json: '{"a":1}' }, callAs('bob'))
  expect(touched).toMatchObject({
    description: 'stays',
    next_run_at: made.next_run_at,
    input_json: '{"a":1}',
  })
  expect(await client.pause({ ref: made.id })).toMatchObject({ input_json: '{"a":1}' })
  await client.resume({ ref: made.id })
  const config = '{"type":"cron","cron_expression":"30 5 2 2 *"}'
  const given = { schedule_config_json: config, run_as_service_account: 'svc-reports' }
  const changed = await client.update({ ref: made.id, ...given }, callAs('bob'))
  expect(changed).toMatchObject({ schedule_type: 'cron', run_as_service_account: 'svc-reports' })
  expect(changed.next_run_at?.toISOString()).toMatch(/-02-02T05:30:00.000Z$/)
  expect(await client.get({ ref: made.id })).toMatchObject({
    input_json: '{"a":1}',
    schedule_config_json: config,
    description: 'stays',
  })
})

test('invalid or empty update: changes nothing', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request())

  const wrong = { ref: made.id, schedule_config_json: everySeconds(0), description: 'x' }
  await expect(client.update(wrong)).rejects.toMatchObject({ kind: 'unprocessable' })
  await client.update({ ref: made.id }, callAs('bob'))
  expect(await client.get({ ref: made.id })).toEqual(made)
})

test('pause and resume: idempotent; the anchor is unchanged', async () => {
  const { replica } = await schedulerFixture()
  const client = await replica()
  const made = await client.create(request())

  expect(await client.pause({ ref: made.id })).toMatchObject({ status: 'paused' })
  expect(await client.pause({ ref: made.name })).toMatchObject({ status: 'paused' })
  const resumed = await client.resume({ ref: made.id })
  expect(resumed).toMatchObject({ status: 'active', next_run_at: made.next_run_at })
  expect(await client.resume({ ref: made.id })).toEqual(resumed)
})

test('list and forecast of visible schedules: others are left out, in totals too', async () => {
  const { replica, catalog } = await schedulerFixture()
  const client = await replica()
  catalog.put('other', 'report')
  const mine = await client.create(request())
  const other = await client.create({ ...request(), workflow_namespace: 'other' })
  const page = {
    workflow_namespace: '',
    workflow_name: '',
    active_only: true,
    limit: 10,
    offset: 0,
  }
  const seen = async (visible: {
    workflows: { namespace: string; name: string }[]
    ids: string[]
  }) => {
    const list = await client.list({ ...page, visible: { all: false, ...visible } })
    const forecast = await client.forecast({ hours: 2, limit: 10, all: false, ...visible })
    expect([list.filtered, list.total, forecast.active]).toEqual([
      true,
      list.schedules.length,
      list.schedules.length,
    ])
    return list.schedules.map(({ id }) => id)
  }
  const scope = (namespace: string, name = '*') => ({ workflows: [{ namespace, name }], ids: [] })
  expect(await seen(scope('team'))).toEqual([mine.id])
  expect(await seen(scope('*', 'report'))).toEqual([other.id, mine.id])
  expect(await seen(scope('team', 'another'))).toEqual([])
  expect(await seen({ workflows: [], ids: [other.id] })).toEqual([other.id])
  expect(await seen({ workflows: [], ids: [] })).toEqual([])
})
