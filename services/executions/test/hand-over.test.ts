import { QueueService } from '@windlass/proto/windlass/executions/v1/executions'
import { sql } from '@windlass/runtime/postgres/sql'
import { clientOf } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { type Client, cancel, event, get, run, setup, worker } from './executions-fixture.ts'

/** An execution that is cancelled while a worker which continues cancelled executions holds it. */
async function cancelled() {
  const { client, db, ports } = await setup({ env: {} })
  const queue = clientOf(QueueService, [`127.0.0.1:${ports[0]}`])
  onTestFinished(() => queue.close())
  const explain = () => queue.explain({ execution_id })
  const first = worker(client)
  const { execution_id } = await run(client)
  await first.lease({ continues_cancelled: true })
  const { claim_generation: generation } = await first.claim(execution_id)
  await first.report(execution_id, 'RUNNING', { generation, events: [event('TASK_COMPLETED')] })
  expect(await cancel(client, execution_id)).toMatchObject({ state: 'CANCELLING' })
  /** Lets the deadline of the cancel pass. */
  const endAtDeadline = async () => {
    await db.run(sql`
      update executions set deadline_at = clock_timestamp() - interval '1 s'
       where execution_id = ${execution_id}`)
    await expect
      .poll(async () => (await get(client, execution_id)).state, { timeout: 60_000 })
      .toBe('CANCELLED')
  }
  return { client, db, first, execution_id, generation, explain, endAtDeadline }
}

const typesOf = async (client: Client, execution_id: string) =>
  (await client.log({ execution_id, after_seq: 0, limit: 0 })).entries.map(({ type }) => type)

test('a cancelled execution that is released as crashed: leased to a worker with the feature only', async () => {
  const { client, first, execution_id, generation } = await cancelled()
  await first.release(execution_id, generation, false, true)
  expect(await get(client, execution_id)).toMatchObject({ state: 'CANCELLING' })

  const plain = worker(client)
  expect((await plain.lease()).leases).toEqual([])
  const second = worker(client)
  const { leases } = await second.lease({ continues_cancelled: true })
  expect(leases).toMatchObject([{ execution: { execution_id, state: 'CANCELLING' } }])
  expect(leases[0]?.claim_ms).toBeUndefined()
  expect(leases[0]?.log.map(({ type }) => type).slice(-2)).toEqual([
    'WORKFLOW_CANCELLING',
    'WORKFLOW_SCHEDULED',
  ])

  const { claim_generation } = await second.claim(execution_id)
  await expect(first.report(execution_id, 'CANCELLED', { generation })).rejects.toThrow(
    'stale-claim',
  )
  const undone = { generation: claim_generation, events: [event('TASK_COMPLETED')] }
  expect(await second.report(execution_id, 'RUNNING', undone)).toMatchObject({
    state: 'CANCELLING',
  })
  const end = await second.report(execution_id, 'CANCELLED', { generation: claim_generation })
  expect(end).toMatchObject({ state: 'CANCELLED' })
  expect(
    (await typesOf(client, execution_id)).filter((type) => type === 'WORKFLOW_CANCELLED'),
  ).toEqual(['WORKFLOW_CANCELLED'])
})

test('one worker with one slot: gets its own execution again', async () => {
  const { first, execution_id, generation } = await cancelled()
  await first.release(execution_id, generation, false, true)
  const { leases } = await first.lease({ continues_cancelled: true, capacity: 1 })
  expect(leases.map(({ execution }) => execution?.execution_id)).toEqual([execution_id])
})

test('a cancelled execution that no worker takes: CANCELLED at the deadline of the cancel', async () => {
  const { client, db, first, execution_id, generation, endAtDeadline } = await cancelled()
  const deadline = async () => {
    const [row] = await db.rows<{ deadline_at: string }>(sql`
      select deadline_at::text from executions where execution_id = ${execution_id}`)
    return row?.deadline_at
  }
  const before = await deadline()
  await first.release(execution_id, generation, false, true)
  expect(await deadline()).toBe(before)
  await endAtDeadline()
  expect((await worker(client).lease({ continues_cancelled: true, of: [] })).leases).toEqual([])
})

test('a worker without the feature: its cancelled execution is CANCELLED when it is released', async () => {
  const { client } = await setup({ env: {} })
  const w = worker(client)
  const { execution_id } = await run(client)
  await w.lease()
  const { claim_generation } = await w.claim(execution_id)
  await cancel(client, execution_id)
  const released = await w.release(execution_id, claim_generation, false, true)
  expect(released).toMatchObject({ state: 'CANCELLED' })
})

test('a handed over execution: explained by the worker that lost it, then also by the one that continues it', async () => {
  const { client, first, execution_id, generation, explain } = await cancelled()
  expect(await explain()).toMatchObject({ held_by: first.worker_name, handed_over_by: '' })
  await first.release(execution_id, generation, false, true)
  const waiting = { state: 'CANCELLING', held_by: '', handed_over_by: first.worker_name }
  expect(await explain()).toMatchObject({ ...waiting, deadline_at: expect.any(Date) })

  const second = worker(client)
  await second.lease({ continues_cancelled: true })
  expect(await explain()).toMatchObject({ ...waiting, held_by: second.worker_name })
})

const compensation = (type: string, source_id: string, value: unknown = null) =>
  event(type, { source_id, name: 'undo', value_json: JSON.stringify(value) })

test('compensations without an outcome when a bound ends the cancel: explained in their order', async () => {
  const { first, execution_id, generation, explain, endAtDeadline } = await cancelled()
  const plan = { '~compensations': ['c', 'b', 'a'] }
  const events = [
    compensation('TASK_STARTED', 'x', { order: '~compensations' }),
    compensation('TASK_STARTED', 'c', { ...plan, id: 7 }),
    compensation('TASK_COMPLETED', 'c'),
    compensation('TASK_STARTED', 'b', ['~compensations']),
    compensation('TASK_STARTED', 'b', { '~compensations': 'none' }),
  ]
  await first.report(execution_id, 'RUNNING', { generation, events })
  expect((await explain()).undone).toEqual([])
  await endAtDeadline()
  expect(await explain()).toMatchObject({ handed_over_by: '', undone: ['b', 'a'] })
})

test('a cancel that its worker confirms: no compensation is explained as undone', async () => {
  const { first, execution_id, generation, explain } = await cancelled()
  const events = [compensation('TASK_STARTED', 'c', { '~compensations': ['c', 'b'] })]
  await first.report(execution_id, 'RUNNING', { generation, events })
  await first.report(execution_id, 'CANCELLED', { generation })
  expect(await explain()).toMatchObject({ state: 'CANCELLED', undone: [] })
})
