import { jetstream } from '@nats-io/jetstream'
import { Event } from '@windlass/proto/windlass/events/v1/events'
import { LogGrew } from '@windlass/proto/windlass/signals/v1/signals'
import { newId } from '@windlass/runtime/ids'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, onTestFinished, test } from 'vitest'
import { cancel, event, run, setup, worker } from './executions-fixture.ts'
import { openNats } from './nats-fixture.ts'

const ALL = { all: true, workflows: [], ids: [] }
const page = {
  ...{ state: '', workflow_namespace: '', workflow_name: '' },
  ...{ visible: ALL, limit: 50, offset: 0 },
}

test('list of visible workflows: rows and totals of these only, in every page', async () => {
  const { client, db } = await setup()
  const runs = [...['one/a', 'two/a', 'one/b', 'two/b', 'one/a'].map((ref) => ref.split('/'))]
  for (const [workflow_namespace, workflow_name] of runs)
    await run(client, { workflow_namespace, workflow_name })
  const only = (...workflows: { namespace: string; name: string }[]) => ({
    visible: { all: false, workflows, ids: [] },
  })
  const listed = async (filter: object) => {
    const { executions, total, filtered } = await client.list({ ...page, ...filter })
    expect(filtered).toBe(true)
    return [total, ...executions.map((row) => `${row.workflow_namespace}/${row.workflow_name}`)]
  }
  const one = { namespace: 'one', name: '*' }
  const check = async () => {
    expect(await listed(only(one))).toEqual([3, 'one/a', 'one/b', 'one/a'])
    expect(await listed({ ...only(one), limit: 1, offset: 1 })).toEqual([3, 'one/b'])
    expect(await listed({ ...only(one), workflow_namespace: 'two' })).toEqual([0])
    expect(await listed({ ...only(one), workflow_name: 'a' })).toEqual([2, 'one/a', 'one/a'])
    expect(await listed({ ...only(one), state: 'SCHEDULED' })).toHaveLength(4)
    expect(await listed({ ...only(one), state: 'COMPLETED' })).toEqual([0])
    const b = { namespace: '*', name: 'b' }
    expect(await listed(only(b))).toEqual([2, 'two/b', 'one/b'])
    expect(await listed(only(one, b))).toHaveLength(5)
    expect(await listed(only())).toEqual([0])
  }
  await check()
  await expect.poll(() => db.rows(sql`select 1 from totals_delta`)).toEqual([])
  await check()
})

test('lists: newest first, filtered by workflow and state, with totals', async () => {
  const { client, db } = await setup()
  const created: { execution_id: string }[] = []
  for (const workflow_name of ['a', 'b', 'a']) created.push(await run(client, { workflow_name }))
  await cancel(client, created[0]?.execution_id ?? '')
  const ids = async (filter: object) => {
    const { executions, total } = await client.list({ ...page, ...filter })
    expect(total).toBe(executions.length)
    return executions.map(({ execution_id }) =>
      created.findIndex((row) => row.execution_id === execution_id),
    )
  }
  const check = async () => {
    expect(await ids({})).toEqual([2, 1, 0])
    expect(await ids({ workflow_namespace: 'default', workflow_name: 'a' })).toEqual([2, 0])
    expect(await ids({ state: 'CANCELLED' })).toEqual([0])
    expect(await ids({ state: 'SCHEDULED', workflow_name: 'a' })).toEqual([2])
    expect(await ids({ state: 'CREATED' })).toEqual([])
  }
  await check()
  await expect.poll(() => db.rows(sql`select 1 from totals_delta`)).toEqual([])
  await check()
  const second = await client.list({ ...page, limit: 1, offset: 1 })
  expect(second).toMatchObject({
    total: 3,
    executions: [{ execution_id: created[1]?.execution_id }],
  })
})

test('a log read in pages from any position: has every event once', async () => {
  const { client } = await setup()
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  await w.report(execution_id, 'RUNNING', {
    generation: 1,
    events: Array.from({ length: 10 }, () => event('TASK_STARTED')),
  })
  const first = await client.log({ execution_id, after_seq: 0, limit: 5 })
  expect(first).toMatchObject({ more: true, execution: { last_seq: 12 } })
  const rest = await client.log({ execution_id, after_seq: 5, limit: 0 })
  expect([...first.entries, ...rest.entries].map(({ seq }) => seq)).toEqual(
    Array.from({ length: 12 }, (_, i) => i + 1),
  )
  await expect(client.log({ execution_id: newId(), after_seq: 0, limit: 0 })).rejects.toMatchObject(
    { kind: 'not_found' },
  )
})

test('a repeated checkpoint: appends nothing, even while the first one is in flight', async () => {
  const { client } = await setup({ replicas: 2 })
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  const events = [event('TASK_STARTED'), event('TASK_COMPLETED')]
  await Promise.all(
    Array.from({ length: 10 }, () => w.report(execution_id, 'RUNNING', { generation: 1, events })),
  )
  const { entries } = await client.log({ execution_id, after_seq: 0, limit: 0 })
  expect(entries.filter(({ type }) => type.startsWith('TASK_'))).toHaveLength(2)
})

test('a commit: followers receive its entries, or a notice if the values are large', async () => {
  const { client } = await setup()
  const { execution_id } = await run(client)
  const connection = await openNats()
  const heard: LogGrew[] = []
  connection.subscribe(`executions.${execution_id}.events.*`, {
    callback: (_, message) => void heard.push(LogGrew.decode(message.data)),
  })
  await connection.flush()
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  await w.report(execution_id, 'RUNNING', {
    generation: 1,
    events: [event('TASK_COMPLETED', { value_json: `"${'x'.repeat(100_000)}"` })],
  })
  await expect
    .poll(() => heard)
    .toMatchObject([
      { state: 'SCHEDULED', last_seq: 1, entries: [{ type: 'WORKFLOW_SCHEDULED', seq: 1 }] },
      { state: 'CLAIMED', last_seq: 2 },
      { state: 'RUNNING', last_seq: 3, omitted: true, entries: [] },
    ])
})

test('terminal events of scheduled executions, and no others: published once each, in the order of commit', async () => {
  const { client } = await setup({ replicas: 2 })
  const connection = await openNats()
  const ended: string[] = []
  const scheduled: string[] = []
  for (let i = 0; i < 40; i++) {
    const isScheduled = i % 2 === 1
    const { execution_id } = await run(client, isScheduled ? { schedule_id: newId() } : {})
    await cancel(client, execution_id)
    ended.push(execution_id)
    if (isScheduled) scheduled.push(execution_id)
  }
  const consumer = await jetstream(connection).consumers.get('EVENTS', {
    filter_subjects: 'events.executions.execution_finished',
  })
  const heard: string[] = []
  const messages = await consumer.consume()
  void (async () => {
    for await (const message of messages) {
      const { body } = Event.decode(message.data)
      if (body?.$case === 'execution_finished' && ended.includes(body.value.execution_id)) {
        expect(body.value).toMatchObject({ state: 'CANCELLED', workflow_name: 'report' })
        heard.push(body.value.execution_id)
      }
    }
  })()
  onTestFinished(async () => void (await messages.close()))
  await expect.poll(() => heard).toEqual(scheduled)
})

test('concurrent writes: a log and its row are of the same moment', async () => {
  const { client } = await setup({ replicas: 2 })
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  let isOver = false
  const read = async () => {
    while (!isOver) {
      const { execution, entries } = await client.log({ execution_id, after_seq: 0, limit: 0 })
      expect(entries.at(-1)?.seq).toBe(execution?.last_seq)
    }
  }
  const readers = Array.from({ length: 4 }, read)
  const writing = (async () => {
    for (let i = 0; i < 400; i++)
      await w.report(execution_id, 'RUNNING', { generation: 1, events: [event('TASK_STARTED')] })
  })().finally(() => {
    isOver = true
  })
  await Promise.all([...readers, writing])
})
