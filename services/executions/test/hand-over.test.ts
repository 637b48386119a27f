import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { type Client, cancel, event, get, run, setup, worker } from './executions-fixture.ts'

/** An execution that is cancelled while a worker which continues cancelled executions holds it. */
async function cancelled() {
  const { client, db } = await setup({ env: {} })
  const first = worker(client)
  const { execution_id } = await run(client)
  await first.lease({ continues_cancelled: true })
  const { claim_generation: generation } = await first.claim(execution_id)
  await first.report(execution_id, 'RUNNING', { generation, events: [event('TASK_COMPLETED')] })
  expect(await cancel(client, execution_id)).toMatchObject({ state: 'CANCELLING' })
  return { client, db, first, execution_id, generation }
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
  const { client, db, first, execution_id, generation } = await cancelled()
  const deadline = async () => {
    const [row] = await db.rows<{ deadline_at: string }>(sql`
      select deadline_at::text from executions where execution_id = ${execution_id}`)
    return row?.deadline_at
  }
  const before = await deadline()
  await first.release(execution_id, generation, false, true)
  expect(await deadline()).toBe(before)
  await db.run(sql`
    update executions set deadline_at = clock_timestamp() - interval '1 s'
     where execution_id = ${execution_id}`)
  await expect
    .poll(async () => (await get(client, execution_id)).state, { timeout: 60_000 })
    .toBe('CANCELLED')
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
