import { newId } from '@windlass/runtime/ids'
import type { Db } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { applyUnderLocks } from '../src/engine/pessimistic.ts'
import { limits } from './execution-samples.ts'
import { type Client, cancel, create, get, run, setup } from './executions-fixture.ts'
import { claimed, park } from './parking-fixture.ts'

const HANG_MS = 60_000
const POLL = { timeout: HANG_MS / 2, interval: 50 }

const child = async (client: Client, parent_id: string, cancel_with_parent = true) =>
  (await run(client, { parent_id, cancel_with_parent, depth: 1 })).execution_id

const stateOf = async (client: Client, id: string) => (await get(client, id)).state
const until = (client: Client, id: string, state: string) =>
  expect.poll(() => stateOf(client, id), POLL).toBe(state)

/** Waits until the cursor of the poll has passed the end of an execution. */
const cursorAt = (db: Db, id: string) =>
  expect
    .poll(
      () =>
        db.maybe(sql`select from relay_cursor where name = 'children' and execution_id = ${id}`),
      POLL,
    )
    .toBeDefined()

test.for(['queued', 'claimed', 'parked'])(
  'a %s parent is cancelled: its tree is, others are not',
  {
    timeout: HANG_MS,
  },
  async (situation) => {
    const { client } = await setup({ replicas: 2 })
    const { w, ids } = await claimed(client)
    const [parent = ''] = ids
    if (situation === 'queued') await w.release(parent, 1)
    if (situation === 'parked')
      await park(client, w, parent, { wake_on: [await child(client, newId())] })
    const [first, left, other] = [
      await child(client, parent),
      await child(client, parent, false),
      await child(client, newId()),
    ]
    const below = await child(client, first)
    await cancel(client, parent)
    expect(await stateOf(client, parent)).toBe(situation === 'claimed' ? 'CANCELLING' : 'CANCELLED')
    for (const id of [first, below]) await until(client, id, 'CANCELLED')
    for (const id of [left, other]) expect(await stateOf(client, id)).toBe('SCHEDULED')
  },
)

test('a nested run is created after its parent was cancelled: it is cancelled', {
  timeout: HANG_MS,
}, async () => {
  const { client } = await setup()
  const parent = (await run(client)).execution_id
  await cancel(client, parent)
  await until(client, await child(client, parent), 'CANCELLED')
})

test('the parent ends in another way: its nested runs continue', { timeout: HANG_MS }, async () => {
  const { client, db } = await setup()
  const { w, ids } = await claimed(client)
  const [parent = ''] = ids
  const kept = await child(client, parent)
  await w.report(parent, 'FAILED', { generation: 1 })
  await cursorAt(db, parent)
  expect(await stateOf(client, kept)).toBe('SCHEDULED')
})

test.for([
  ['CANCELLING', true],
  ['CANCELLED', false],
] as const)(
  'the replica died after the commit of %s: the poll cancels the nested runs',
  {
    timeout: HANG_MS,
  },
  async ([state, isClaimed]) => {
    const { client, db } = await setup()
    const { ids } = isClaimed ? await claimed(client) : { ids: [(await run(client)).execution_id] }
    const [parent = ''] = ids
    const cancelled = await child(client, parent)
    await applyUnderLocks(db, [{ execution_id: parent, command: { kind: 'cancel' } }], limits)
    expect(await stateOf(client, parent)).toBe(state)
    await until(client, cancelled, 'CANCELLED')
  },
)

test('the prompt of a create under a parent that was cancelled is lost: the sweep cancels the nested run', {
  timeout: HANG_MS,
}, async () => {
  const { client, db } = await setup()
  const parent = (await run(client)).execution_id
  await cancel(client, parent)
  await cursorAt(db, parent)
  // Not created under the parent: the prompt would find it.
  const [orphan, left] = [await child(client, newId()), await child(client, newId(), false)]
  await db.run(sql`
    update executions set parent_id = ${parent} where execution_id = any(${[orphan, left]}::uuid[])`)
  await until(client, orphan, 'CANCELLED')
  expect(await stateOf(client, left)).toBe('SCHEDULED')
})

test('more nested runs than one page: all are cancelled', { timeout: HANG_MS }, async () => {
  const { client, db } = await setup()
  const parent = (await run(client)).execution_id
  const fields = { parent_id: parent, cancel_with_parent: true }
  await client.submit({ commands: Array.from({ length: 600 }, () => create(fields)) })
  await cancel(client, parent)
  await expect
    .poll(
      () =>
        db.rows(sql`select from executions where parent_id = ${parent} and state <> 'CANCELLED'`),
      POLL,
    )
    .toEqual([])
})
