import { newId } from '@windlass/runtime/ids'
import { expect, test } from 'vitest'
import {
  cancel,
  create,
  event,
  get,
  resume,
  run,
  setup,
  submit,
  worker,
} from './executions-fixture.ts'

test('a settled execution: accepts the identical checkpoint, and rejects any other as a stale claim', async () => {
  const { client } = await setup()
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  const pause = event('WORKFLOW_PAUSED', { value_json: '{"name":"p","output":1}' })
  const stale = { kind: 'conflict', message: expect.stringContaining('stale-claim') }
  const paused = (value_json: string) =>
    w.report(execution_id, 'PAUSED', { generation: 1, events: [{ ...pause, value_json }] })
  expect(await paused('{"name":"p","output":1}')).toMatchObject({ state: 'PAUSED' })
  expect(await paused('{"name":"p","output":1}')).toMatchObject({ state: 'PAUSED' })
  await expect(paused('{"name":"p","output":2}')).rejects.toMatchObject(stale)

  await resume(client, execution_id, 'null')
  await w.lease()
  await w.claim(execution_id)
  const closing = event('WORKFLOW_COMPLETED')
  const completed = (value_json: string) =>
    w.report(execution_id, 'COMPLETED', { generation: 2, events: [{ ...closing, value_json }] })
  await completed('1.0')
  expect(await completed('1.0')).toMatchObject({ state: 'COMPLETED', output_json: '1.0' })
  await expect(completed('1')).rejects.toMatchObject(stale)
  await expect(w.report(execution_id, 'FAILED', { generation: 2 })).rejects.toMatchObject(stale)
  expect(await get(client, execution_id)).toMatchObject({ output_json: '1.0' })
})

test('C4: without a fencing token only the session of the claim may write', async () => {
  const { client } = await setup()
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  const stale = { kind: 'conflict', message: expect.stringContaining('stale-claim') }
  const of = (session: string) => worker(client, w.worker_name, session)
  for (const write of [
    of('an older one').report(execution_id, 'RUNNING'),
    of('an older one').release(execution_id),
    of('an older one').verify(execution_id),
    of('an older one').report(execution_id, 'CANCELLED'),
  ])
    await expect(write).rejects.toMatchObject(stale)
  expect(await get(client, execution_id)).toMatchObject({ state: 'CLAIMED', claim_generation: 1 })
  await w.report(execution_id, 'RUNNING')
  // A caller without a session counts as the newest session of the name.
  await of('').report(execution_id, 'RUNNING', { events: [event('WORKFLOW_STARTED')] })
})

test('E8: a repeated resume is answered like the first one; another resume is refused', async () => {
  const { client } = await setup({ replicas: 2 })
  const { execution_id } = await run(client)
  const w = worker(client)
  await w.lease()
  await w.claim(execution_id)
  const events = [event('WORKFLOW_PAUSED', { value_json: '{"name":"p","output":1}' })]
  await w.report(execution_id, 'PAUSED', { generation: 1, events })
  const request_id = newId()
  const repeats = Array.from({ length: 4 }, () => resume(client, execution_id, '1', request_id))
  expect((await Promise.all(repeats)).map(({ state }) => state)).toEqual(Array(4).fill('RESUMING'))
  const refused = { kind: 'conflict' }
  await expect(resume(client, execution_id, '1', newId())).rejects.toMatchObject(refused)
  await expect(resume(client, execution_id, '1')).rejects.toMatchObject(refused)

  await w.lease()
  await w.claim(execution_id)
  expect(await resume(client, execution_id, '1', request_id)).toMatchObject({
    state: 'RESUME_CLAIMED',
  })
  const { entries } = await client.log({ execution_id, after_seq: 0, limit: 0 })
  expect(entries.filter(({ type }) => type === 'WORKFLOW_RESUMING')).toHaveLength(1)
})

test('E8: a repeated cancel is answered like the first one, even when terminal', async () => {
  const { client } = await setup({ replicas: 2 })
  const { execution_id } = await run(client)
  const request_id = newId()
  const repeats = Array.from({ length: 4 }, () => cancel(client, execution_id, request_id))
  expect((await Promise.all(repeats)).map(({ state }) => state)).toEqual(Array(4).fill('CANCELLED'))
  expect(await cancel(client, execution_id, request_id)).toMatchObject({ state: 'CANCELLED' })
  await expect(cancel(client, execution_id, newId())).rejects.toMatchObject({ kind: 'invalid' })
})

test('a repeated create: one execution', async () => {
  const { client } = await setup({ replicas: 2 })
  const command = create({ request_hash: 'a' })
  const answers = await Promise.all(Array.from({ length: 20 }, () => submit(client, command)))
  expect(new Set(answers.map(({ execution_id }) => execution_id)).size).toBe(1)
  const other = create(
    { request_hash: 'b', workflow_id: answers[0]?.workflow_id },
    command.execution_id,
  )
  await expect(submit(client, other)).rejects.toMatchObject({ kind: 'unprocessable' })
  expect(
    await client.list({
      state: '',
      workflow_namespace: '',
      workflow_name: '',
      visible: { all: true, workflows: [], ids: [] },
      limit: 50,
      offset: 0,
    }),
  ).toMatchObject({ total: 1 })
})
