import { newId } from '@windlass/runtime/ids'
import { expect, test } from 'vitest'
import { deleteLogs } from '../src/store/expired.ts'
import { create, event, submit, worker } from './executions-fixture.ts'
import { searchSetup } from './history-fixture.ts'

type Setup = Awaited<ReturnType<typeof searchSetup>>

/** An execution that has completed `a` with 1, begun `b`, and failed. */
async function origin({ client }: Setup) {
  const one = worker(client)
  const command = create({ tags: { order: '17' } })
  await submit(client, command)
  await one.lease()
  const { execution_id } = command
  await one.claim(execution_id)
  const of = (source_id: string) => ({ source_id, name: source_id })
  const events = [
    event('WORKFLOW_STARTED'),
    event('TASK_STARTED', of('a')),
    event('TASK_COMPLETED', { ...of('a'), value_json: '1.0' }),
    event('TASK_STARTED', of('b')),
    event('WORKFLOW_FAILED', { value_json: '{"message":"x"}' }),
  ]
  await one.report(execution_id, 'FAILED', { events })
  return execution_id
}

const forkOf = (origin_id: string, after_seq: number, execution_id = newId()) => {
  const { body } = create({ origin_id })
  if (body?.$case !== 'create') throw new Error('no create')
  return {
    ...{ execution_id, with_log: true },
    body: { $case: 'fork' as const, value: { create: body.value, after_seq } },
  }
}

test('a fork: begins with the outcomes up to its place, and its worker is leased them', async () => {
  const all = await searchSetup()
  const { client, history, search } = all
  const origin_id = await origin(all)
  const planned = await history.planFork({ execution_id: origin_id, after_seq: 6 })
  expect(planned).toMatchObject({ found: true, last_seq: 7, entries: 2, calls: 1, cut: false })
  expect(planned.runs_again).toEqual([{ call_id: 'b', name: 'b', seq: 6 }])
  const command = forkOf(origin_id, 6)
  const made = await submit(client, command)
  expect(made).toMatchObject({ state: 'SCHEDULED', last_seq: 2 })
  expect(made.log.map(({ seq, type, value_json }) => [seq, type, value_json])).toEqual([
    [1, 'TASK_STARTED', 'null'],
    [2, 'TASK_COMPLETED', '1.0'],
  ])
  const { rows } = await search({ id_prefix: command.execution_id })
  expect(rows).toMatchObject([{ origin_id, origin_seq: 6 }])

  // A repeated request makes no second one.
  expect(await submit(client, command)).toMatchObject({ last_seq: 2 })
  const [lease] = (await worker(client).lease()).leases
  expect(lease?.execution).toMatchObject({ execution_id: command.execution_id, last_seq: 3 })
  expect(lease?.log.map(({ seq, type }) => [seq, type])).toEqual([
    [1, 'TASK_STARTED'],
    [2, 'TASK_COMPLETED'],
    [3, 'WORKFLOW_SCHEDULED'],
  ])
})

test('a fork beyond the end of a log, or of no execution: refused, and none is made', async () => {
  const all = await searchSetup()
  const { client, history, search } = all
  const origin_id = await origin(all)
  expect(await history.planFork({ execution_id: origin_id, after_seq: 8 })).toMatchObject({
    ...{ found: false, last_seq: 7 },
  })
  const refused = async (command: ReturnType<typeof forkOf>, kind: string) => {
    await expect(submit(client, command)).rejects.toMatchObject({ kind })
    expect((await search({ id_prefix: command.execution_id })).rows).toEqual([])
  }
  await refused(forkOf(origin_id, 8), 'unprocessable')
  await refused(forkOf(newId(), 0), 'not_found')
  await refused(forkOf('', 0), 'invalid')
})

test('a fork of an execution whose log retention has deleted: refused, and none is made; a fork of nothing is', async () => {
  const all = await searchSetup()
  const { client, history, search, db } = all
  const origin_id = await origin(all)
  await db.tx((tx) => deleteLogs(tx, [origin_id]))
  await expect(history.planFork({ execution_id: origin_id, after_seq: 6 })).rejects.toMatchObject({
    kind: 'conflict',
  })
  const command = forkOf(origin_id, 6)
  await expect(submit(client, command)).rejects.toMatchObject({ kind: 'conflict' })
  expect((await search({ id_prefix: command.execution_id })).rows).toEqual([])
  expect(await submit(client, forkOf(origin_id, 0))).toMatchObject({ last_seq: 0 })
})

test('two executions compared: texts, calls, and the first call that differs', async () => {
  const all = await searchSetup()
  const { client, history } = all
  const a = await origin(all)
  const { execution_id: b } = await submit(client, forkOf(a, 6))
  expect(await history.compare({ a, b })).toMatchObject({
    ...{ a: { execution_id: a, state: 'FAILED' }, b: { execution_id: b, origin_id: a } },
    ...{ same_input: true, same_output: false, input_members: [], cut: false },
    ...{ same_calls: 1, different_calls: 0, only_a: 1, only_b: 0 },
    first: { call_id: 'b', kind: 'missing', a: { seq: 6, state: 'running' }, b: undefined },
  })
  const other = create({ input_json: '{"n":1, "m": [2]}' })
  await submit(client, other)
  const compared = await history.compare({ a, b: other.execution_id })
  expect([compared.same_input, compared.input_members]).toEqual([false, ['n', 'm']])
  await expect(history.compare({ a, b: newId() })).rejects.toThrow('not found')
})
