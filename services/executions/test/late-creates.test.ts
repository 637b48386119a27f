import { newId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { type Client, create, setup, submit } from './executions-fixture.ts'
import { readEnds, seed, sweep } from './retention-fixture.ts'
import { wait, waitingFixture } from './waiting-fixture.ts'

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000)

const countRows = async (db: Db) => (await db.rows(sql`select from executions`)).length

const total = async (client: Client) =>
  (
    await client.list({
      ...{ state: '', workflow_namespace: '', workflow_name: '', visible: undefined },
      ...{ limit: 1, offset: 0 },
    })
  ).total

test('T3: a create after its time limit: refused, and nothing is stored; its neighbours are created', async () => {
  const { client, db } = await setup()
  const commands = [-1, 3_600, -3_600].map((seconds) => create({ not_after: inSeconds(seconds) }))
  const { results } = await client.submit({ commands: [...commands, create()] })
  expect(results.map(({ body }) => body)).toMatchObject([
    { $case: 'refusal', value: { kind: 'unavailable' } },
    { $case: 'execution', value: { state: 'SCHEDULED' } },
    { $case: 'refusal', value: { kind: 'unavailable' } },
    { $case: 'execution', value: { state: 'SCHEDULED' } },
  ])
  expect([await countRows(db), await total(client)]).toEqual([2, 2])
})

test('T3: a create arrives after its time limit while a dispatcher waits: it is not leased; the next execution is', async () => {
  const { client, queue, offer, requirement, db } = await waitingFixture()
  const { waiting } = await wait(client, [offer('w1')])
  const late = create({ requirement, not_after: inSeconds(-1) })
  await expect(submit(client, late)).rejects.toMatchObject({ kind: 'unavailable' })
  expect((await waiting).leases).toEqual([])
  const again = await wait(client, [offer('w1')])
  const { execution_id } = await queue()
  expect((await again.waiting).leases).toMatchObject([{ execution: { execution_id } }])
  const ofLate = sql`select from events where execution_id = ${late.execution_id}`
  expect(await db.rows(ofLate)).toEqual([])
})

test('a create is repeated after its time limit: it is answered with its execution', async () => {
  const { client } = await setup()
  const id = newId()
  await submit(client, create({ not_after: inSeconds(3_600) }, id))
  expect(await submit(client, create({ not_after: inSeconds(-1) }, id))).toMatchObject({
    execution_id: id,
    state: 'SCHEDULED',
  })
})

test('E2: a create under an idempotency key arrives after retention has deleted its execution: it runs no second time', async () => {
  const { client, db } = await setup()
  const [id = ''] = await seed(db, [{ days: 0.01, request_hash: 'hash' }])
  await readEnds(db)
  await sweep(db, { retention_days: 0.005 })
  expect(await countRows(db)).toBe(0)
  await expect(submit(client, create({ request_hash: 'hash' }, id))).rejects.toMatchObject({
    kind: 'conflict',
    message: expect.stringContaining('[svc.retention]'),
  })
  expect([await countRows(db), await total(client)]).toEqual([0, 0])
})
