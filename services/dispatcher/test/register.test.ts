import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { registration, startDispatchers } from './dispatcher-fixture.ts'
import { openStream } from './worker-fake.ts'

const refused = (kind: string) => expect.objectContaining({ kind })

test('registration: returns the record and a new session', async () => {
  const { register, rpc, name } = await startDispatchers()
  const worker = name()
  const { session_id, worker: stored } = await register({ name: worker, labels: { zone: 'b' } })

  expect(session_id).toMatch(/^[0-9a-f]{32}$/)
  expect(stored).toMatchObject({ name: worker, labels: { zone: 'b' }, session_id })
  expect(stored?.resources?.cpu_available).toBe(7.5)
  expect(await rpc.get({ name: worker })).toEqual(stored)
  expect(stored?.status).toBe('offline')
})

test('second registration: replaces the whole record under a new session', async () => {
  const { register, rpc, name } = await startDispatchers()
  const worker = name()
  const first = await register({ name: worker })
  const second = await register({
    name: worker,
    packages: [],
    resources: undefined,
    runtime: undefined,
    runners: ['subprocess'],
    labels: {},
    max_concurrent_executions: 0,
  })

  expect(second.session_id).not.toBe(first.session_id)
  expect(await rpc.get({ name: worker })).toMatchObject({
    packages: [],
    resources: undefined,
    runtime: undefined,
    runners: ['subprocess'],
    labels: {},
    max_concurrent_executions: 0,
  })
})

test('same instance registers again: session and work are kept', async () => {
  const { register, name, executions, db } = await startDispatchers()
  const worker = name()
  const first = await register({ name: worker }, { instance: 'i1' })
  const second = await register({ name: worker }, { instance: 'i1' })

  expect(second.session_id).toBe(first.session_id)
  const pending = sql`select name from workers where release_generation is not null`
  expect(await db.rows(pending)).toEqual([])
  expect(executions.requeues).toEqual([])
})

test('live stream: registration is a conflict at every dispatcher, except with the token', async () => {
  const { join, all, name } = await startDispatchers({ dispatchers: 2 })
  const worker = name()
  const { session_id, stream } = await join({ name: worker })

  for (const { rpc } of all)
    await expect(rpc.register(registration({ name: worker }))).rejects.toThrow(refused('conflict'))
  expect(stream.ended).toBe(false)

  const request = registration({ name: worker }, { proven_session_id: session_id })
  const renewed = await all[1]?.rpc.register(request)
  expect(renewed?.session_id).not.toBe(session_id)
  await expect.poll(() => stream.ended).toBe(true)
})

test('closed stream: the name is free at once; work of the earlier session is released', async () => {
  const { join, register, name, executions } = await startDispatchers()
  const worker = name()
  const { session_id, stream } = await join({ name: worker })
  executions.hold(worker, 2)
  stream.kill()

  await expect.poll(() => register({ name: worker }).catch(() => undefined)).toBeDefined()
  await expect.poll(() => executions.held.get(worker)).toEqual([])
  expect(executions.requeues).toContainEqual({
    worker_name: worker,
    connection_generation: 1,
    died: true,
  })
  expect(session_id).toBeDefined()
})

test('executions away at a registration: work is released when it returns', async () => {
  const { join, register, name, executions } = await startDispatchers()
  const worker = name()
  const { session_id } = await join({ name: worker })
  executions.hold(worker, 1)
  executions.isDown = true
  await register({ name: worker }, { proven_session_id: session_id })
  expect(executions.requeues).toEqual([])

  executions.isDown = false
  await expect.poll(() => executions.held.get(worker)).toEqual([])
})

test('concurrent registrations of one name: all are answered, one session remains', async () => {
  const { all, name } = await startDispatchers({ dispatchers: 2 })
  const worker = name()
  const sessions = await Promise.all(
    Array.from({ length: 10 }, async (_, i) => {
      const { rpc } = all[i % 2] ?? all[0] ?? expect.unreachable()
      return (await rpc.register(registration({ name: worker }))).session_id
    }),
  )
  const known = await all[0]?.rpc.get({ name: worker })
  expect(sessions).toContain(known?.session_id)
  expect(new Set(sessions).size).toBe(10)
})

test('record out of bounds: refused with its field, nothing is stored', async () => {
  const { register, rpc, name } = await startDispatchers()
  const worker = name()
  await expect(register({ name: worker, runners: [''] })).rejects.toMatchObject({
    kind: 'unprocessable',
    details: { problems: [{ loc: ['body', 'runners', 0] }] },
  })
  await expect(register({ name: '..' })).rejects.toThrow(refused('unprocessable'))
  await expect(rpc.get({ name: worker })).rejects.toThrow(refused('not_found'))
})

test('list: sorted by name, with status and filter', async () => {
  const { join, register, rpc, name, executions } = await startDispatchers()
  const [connected, gone] = [`a-${name()}`, `b-${name()}`]
  await join({ name: connected })
  await register({ name: gone })

  const listed = async (status: string) =>
    (await rpc.list({ status })).workers.map((worker) => [worker.name, worker.status])
  expect(await listed('')).toEqual([
    [connected, 'online'],
    [gone, 'offline'],
  ])
  expect(await listed('online')).toEqual([[connected, 'online']])
  expect(await listed('offline')).toEqual([[gone, 'offline']])
  expect(await listed('unhealthy')).toEqual([])
  await expect(rpc.list({ status: 'busy' })).rejects.toThrow(refused('unprocessable'))
  expect(executions.requeues).toEqual([])
})

test('worker gone for hours: not listed, still found by name', async () => {
  const { register, rpc, name, db } = await startDispatchers()
  const worker = name()
  await register({ name: worker })
  await db.run(
    sql`update workers set last_seen_at = now() - interval '3 hours', evicted_at = now()`,
  )

  expect((await rpc.list({ status: '' })).workers).toEqual([])
  expect(await rpc.get({ name: worker })).toMatchObject({ status: 'offline' })
})

test('D10: dispatcher died: its streams do not count as live for long', async () => {
  const { join, rpc, register, name, db, stop } = await startDispatchers()
  const worker = name()
  const { session_id } = await join({ name: worker })
  await db.run(sql`update workers set replica_id = ${session_id}`)

  expect(await rpc.get({ name: worker })).toMatchObject({ status: 'offline' })
  expect(await register({ name: worker })).toBeDefined()
  await stop()
})

test('connect with an unknown or malformed name: 404 in JSON', async () => {
  const { streams, name } = await startDispatchers()
  for (const path of [name(), '%2e%2e', 'w%0a1', '%', 'a%2Fb']) {
    const stream = await openStream(streams, path)
    await expect.poll(() => stream.ended).toBe(true)
    expect(stream.status).toBe(404)
    expect(JSON.parse(stream.text())).toHaveProperty('detail')
  }
})
