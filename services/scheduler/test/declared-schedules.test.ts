import { toDurableMessage } from '@windlass/runtime/postgres/outbox'
import { expect, test } from 'vitest'
import { ALL, eventually, newName, request, schedulerFixture } from './scheduler-fixture.ts'

const hourly = { type: 'interval', interval_seconds: 3_600, start_time: null }
const daily = { type: 'cron', cron_expression: '0 5 * * *', timezone: 'Europe/Berlin' }

async function declaredFixture(env: Record<string, string> = {}) {
  const system = await schedulerFixture(env)
  const client = await system.replica()
  const name = newName()
  const reconcile = (workflow_namespace = 'team') =>
    client.reconcile({ workflow_namespace, workflow_name: name })
  const upload = async (schedule?: object, created_by = 'uploader') => {
    const workflow = system.catalog.put('team', name, schedule, created_by)
    await reconcile()
    return workflow
  }
  const find = (ref = `${name}_auto`) => client.get({ ref }).catch(({ kind }) => kind as string)
  const count = async () => {
    const all = {
      workflow_namespace: 'team',
      workflow_name: name,
      active_only: false,
      visible: ALL,
    }
    return (await client.list({ ...all, limit: 0, offset: 0 })).total
  }
  return { ...system, client, name, reconcile, upload, find, count }
}

test('upload with a schedule: exists when the upload returns and is updated with each version', async () => {
  const { upload, find, count, catalog, name, reconcile } = await declaredFixture()
  const first = await upload(hourly)
  const made = await find()
  expect(made).toMatchObject({
    workflow_id: first.id,
    workflow_namespace: 'team',
    workflow_name: name,
    schedule_type: 'interval',
    status: 'active',
  })

  const second = await upload(hourly)
  expect(await find()).toMatchObject({
    ...(made as object),
    workflow_id: second.id,
    updated_at: expect.any(Date),
  })
  await upload(daily)
  expect(await find()).toMatchObject({ id: (made as { id: string }).id, schedule_type: 'cron' })
  expect(await count()).toBe(1)

  await upload(undefined)
  expect(await find()).toBe('not_found')
  await upload(hourly)
  catalog.remove('team', name)
  await reconcile()
  expect(await find()).toBe('not_found')
})

test('declared overlap policy: a change by a client remains until another one is declared', async () => {
  const { client, name, upload, find } = await declaredFixture()
  await upload({ ...hourly, overlap: 'skip' })
  expect(await find()).toMatchObject({ overlap: 'skip' })
  await client.update({ ref: `${name}_auto`, overlap: 'queue' })
  await upload({ ...hourly, overlap: 'skip' })
  expect(await find()).toMatchObject({ overlap: 'queue' })
  await upload({ ...hourly, overlap: 'cancel_previous' })
  expect(await find()).toMatchObject({ overlap: 'cancel_previous' })
  await upload(hourly)
  expect(await find()).toMatchObject({ overlap: 'allow' })
})

test('T6: a hundred concurrent uploads at two replicas: one schedule', async () => {
  const { replica, client, catalog, name, count, find } = await declaredFixture()
  const other = await replica()
  const calls = Array.from({ length: 100 }, (_, i) => {
    catalog.put('team', name, i % 2 ? hourly : daily)
    return (i % 3 ? client : other).reconcile({ workflow_namespace: 'team', workflow_name: name })
  })
  await Promise.all(calls)

  expect(await count()).toBe(1)
  expect(await find()).toMatchObject({ schedule_type: 'interval' })
})

test('<workflow>_auto is taken: the name includes the namespace', async () => {
  const { client, catalog, name, upload, find, reconcile } = await declaredFixture()
  const persons = await client.create(request({ name: `${name}_auto` }))
  await upload(hourly)
  expect(await find()).toEqual(persons)
  expect(await find(`team.${name}_auto`)).toMatchObject({ workflow_namespace: 'team' })

  catalog.put('other', name, hourly)
  await reconcile('other')
  expect(await find(`other.${name}_auto`)).toMatchObject({ workflow_namespace: 'other' })
})

test('changes by a client: remain until another schedule is declared', async () => {
  const { client, name, upload, find } = await declaredFixture()
  await upload(hourly)
  const ref = `${name}_auto`
  await client.update({
    ref,
    schedule_config_json: '{"type":"interval","interval_seconds":7}',
  })
  await client.pause({ ref })
  await upload(hourly)
  expect(await find()).toMatchObject({
    status: 'paused',
    schedule_config_json: expect.stringContaining('7'),
  })
  await upload(daily)
  expect(await find()).toMatchObject({ status: 'paused', schedule_type: 'cron' })

  await client.delete({ ref })
  expect(await find()).toBe('not_found')
  await upload(daily)
  expect(await find()).toMatchObject({ status: 'active' })
})

test('invalid declaration or run_time in the past: no schedule or no next tick', async () => {
  const { upload, find } = await declaredFixture()
  await upload(hourly)
  await upload({ type: 'cron', cron_expression: 'sometimes' })
  expect(await find()).toBe('not_found')
  await upload({ type: 'once', run_time: '2020-01-01T00:00:00Z' })
  expect(await find()).toMatchObject({ status: 'active', next_run_at: undefined })
})

test('auto_schedule_enabled = false: no declared schedule', async () => {
  const { upload, find } = await declaredFixture({ SVC_SCHEDULING__AUTO_SCHEDULE_ENABLED: 'false' })
  await upload(hourly)
  expect(await find()).toBe('not_found')
})

test('workflow events: the schedule is created and removed', async () => {
  const { bus, catalog, name, find, client } = await declaredFixture()
  const { id: workflow_id, namespace, version } = catalog.put('team', name, hourly)
  const publish = (body: Parameters<typeof toDurableMessage>[2]) =>
    bus.publishDurable([toDurableMessage('catalog', name, body)])

  await publish({ $case: 'workflow_changed', value: { workflow_id, namespace, name, version } })
  await eventually(() => find()).toMatchObject({ workflow_id })
  catalog.remove('team', name)
  await publish({ $case: 'workflow_deleted', value: { namespace, name, version: 0 } })
  await eventually(() => find()).toBe('not_found')
  expect(
    await client.list({
      workflow_namespace: '',
      workflow_name: name,
      active_only: false,
      visible: ALL,
      limit: 1,
      offset: 0,
    }),
  ).toMatchObject({ total: 0 })
})

test('lost workflow event: found by comparison with the catalog', async () => {
  const { catalog, name, find, replica } = await declaredFixture()
  catalog.put('team', name, hourly)
  await replica() // compares when it starts
  await eventually(() => find()).toMatchObject({ workflow_name: name })

  catalog.remove('team', name)
  await replica()
  await eventually(() => find()).toBe('not_found')
})
