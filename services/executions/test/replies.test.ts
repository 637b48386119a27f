import { ExecutionsChanged, LogGrew } from '@windlass/proto/windlass/signals/v1/signals'
import { expect, test } from 'vitest'
import { create, event, run, setup, worker } from './executions-fixture.ts'
import { openNats } from './nats-fixture.ts'

test('a settled execution: the sender of its create is signalled, once, and its name answered', async () => {
  const { client } = await setup()
  const connection = await openNats()
  const heard: LogGrew[] = []
  connection.subscribe('executions.sender1.events.reply', {
    callback: (_, message) => void heard.push(LogGrew.decode(message.data)),
  })
  await connection.flush()
  const command = create({ reply_to: 'sender1' })
  const { execution_id } = command
  const repeated = { ...command, body: create({ reply_to: 'sender2' }).body }
  const answers: (string | undefined)[] = []
  for (const one of [command, { ...repeated, execution_id }]) {
    const { results } = await client.submit({ commands: [one] })
    answers.push(results[0]?.reply_to)
  }
  // The second request is answered with the row of the first one.
  expect(answers).toEqual(['sender1', 'sender1'])
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  await w.report(execution_id, 'RUNNING', { generation: 1, events: [event('TASK_COMPLETED')] })
  await w.report(execution_id, 'COMPLETED', { generation: 1, output_json: '7' })
  await expect.poll(() => heard).toHaveLength(1)
  expect(heard).toMatchObject([
    { execution_id, state: 'COMPLETED', ended: { output_json: '7' }, omitted: false },
  ])
})

test('an execution that the sender of its create settles itself: no signal to it', async () => {
  const { client } = await setup()
  const connection = await openNats()
  const heard: string[] = []
  connection.subscribe('executions.sender3.events.reply', {
    callback: (_, message) => void heard.push(LogGrew.decode(message.data).execution_id),
  })
  await connection.flush()
  const w = worker(client)
  const settle = async (sender: string | undefined) => {
    const { execution_id } = await run(client, { reply_to: 'sender3' })
    await w.lease()
    await w.claim(execution_id)
    const writer = w.writer(1)
    const body = {
      $case: 'checkpoint' as const,
      value: { writer, state: 'COMPLETED', events: [], output_json: '7' },
    }
    const { results } = await client.submit({
      commands: [{ execution_id, with_log: false, body }],
      sender,
    })
    expect(results[0]?.body).toMatchObject({ value: { state: 'COMPLETED' } })
    return execution_id
  }
  const ids: string[] = []
  for (const sender of ['sender3', 'sender4', undefined]) ids.push(await settle(sender))
  // The signals of one connection arrive in order.
  await expect.poll(() => heard).toEqual(ids.slice(1))
})

test('an execution that waits for a worker, and each entry of its log: readers of lists get its id', async () => {
  const { client } = await setup()
  const connection = await openNats()
  const heard: string[] = []
  connection.subscribe('executions.batch.events.changed', {
    callback: (_, { data }) => void heard.push(...ExecutionsChanged.decode(data).execution_ids),
  })
  await connection.flush()
  const { execution_id } = await run(client)
  // Changes shortly after each other share a signal, so each is awaited.
  await expect.poll(() => heard).toEqual([execution_id])
  const w = worker(client)
  await w.lease()
  await expect.poll(() => heard).toEqual([execution_id, execution_id])
  await w.claim(execution_id)
  await expect.poll(() => heard).toEqual([execution_id, execution_id, execution_id])
})
