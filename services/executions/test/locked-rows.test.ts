import type { Db, Tx } from '@windlass/runtime/db'
import { sql } from '@windlass/runtime/sql'
import { expect, test } from 'vitest'
import { cancel, event, get, resume, run, setup, worker } from './support.ts'

/** A process that hangs in the middle of a change leaves rows locked until the database has had enough of it. */
const locking = (db: Db, execution_id: string, work: (tx: Tx) => Promise<void>) =>
  db.tx(async (tx) => {
    await tx.rows(sql`select from executions where execution_id = ${execution_id} for update`)
    await work(tx)
  })

const many = <T>(count: number, make: () => Promise<T>) =>
  Promise.all(Array.from({ length: count }, make))

test('D5: a row that somebody has locked holds up its own callers only', async () => {
  const { client, db } = await setup()
  const w = worker(client)
  const made = await many(12, () => run(client))
  await w.lease({ limit: 12 })
  for (const { execution_id } of made) await w.claim(execution_id)
  const [stuck = '', ...others] = made.map(({ execution_id }) => execution_id)
  const report = (id: string) =>
    w.report(id, 'RUNNING', { generation: 1, events: [event('TASK_COMPLETED')] })
  await locking(db, stuck, async () => {
    for (let round = 0; round < 3; round++) {
      const held = expect(report(stuck)).rejects.toMatchObject({ kind: 'unavailable' })
      await Promise.all([...others.map(report), held])
    }
    const paused = await Promise.all(
      others.slice(0, 4).map((id) => w.report(id, 'PAUSED', { generation: 1 })),
    )
    await Promise.all(paused.map(({ execution_id }) => resume(client, execution_id, '1')))
    await Promise.all(others.slice(4).map((id) => cancel(client, id)))
  })
  await report(stuck)
  expect(await get(client, stuck)).toMatchObject({ state: 'RUNNING', claim_generation: 1 })
})

test('D5: queued work that somebody has locked keeps no other from being given', async () => {
  const { client, db } = await setup()
  const [first, ...others] = await many(6, () => run(client))
  const w = worker(client)
  await locking(db, first?.execution_id ?? '', async () => {
    const given = new Set<string>()
    for (let round = 0; round < others.length; round++) {
      const { leases } = await w.lease({ limit: 2 })
      for (const { execution } of leases) given.add(execution?.execution_id ?? '')
    }
    expect(given).toEqual(new Set(others.map(({ execution_id }) => execution_id)))
  })
  await expect
    .poll(async () => (await w.lease()).leases.map(({ execution }) => execution?.execution_id))
    .toContain(first?.execution_id)
})
