import { newId } from '@windlass/runtime/ids'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { type Client, create, setup, submit } from './executions-fixture.ts'

const reserve = async (client: Client, key_id: string, execution_id = '') =>
  (await client.reserveKey({ key_id, execution_id })).execution_id

test('concurrent requests with one key at two replicas: one execution', async () => {
  const { client } = await setup({ replicas: 2 })
  const key_id = newId()
  const ids = await Promise.all(Array.from({ length: 20 }, () => reserve(client, key_id)))
  expect(new Set(ids).size).toBe(1)
  expect(await reserve(client, newId())).not.toBe(ids[0])
})

test('24 hours later: the key is reserved for another execution, with any body', async () => {
  const { client, db } = await setup()
  const key_id = newId()
  const first = await reserve(client, key_id)
  await submit(client, create({ request_hash: 'a' }, first))
  await expect(submit(client, create({ request_hash: 'b' }, first))).rejects.toMatchObject({
    kind: 'unprocessable',
  })
  const hours = async () =>
    (
      await db.maybe<{ hours: number }>(sql`
        select (extract(epoch from expires_at - clock_timestamp()) / 3600)::float8 as hours
          from idempotency_keys where key_id = ${key_id}`)
    )?.hours
  expect(await hours()).toBeGreaterThan(23.9)
  expect(await hours()).toBeLessThanOrEqual(24)
  await db.run(sql`update idempotency_keys set expires_at = clock_timestamp()`)
  const second = await reserve(client, key_id)
  expect(second).not.toBe(first)
  expect(await submit(client, create({ request_hash: 'b' }, second))).toMatchObject({
    execution_id: second,
    state: 'SCHEDULED',
  })
  expect(await reserve(client, key_id)).toBe(second)
})

test('a wanted id: reserved again after 24 hours, but not in place of another reservation', async () => {
  const { client, db } = await setup()
  const [key_id, used, wanted] = [newId(), newId(), newId()]
  expect(await reserve(client, key_id, wanted)).toBe(wanted)
  await db.run(sql`update idempotency_keys set expires_at = clock_timestamp()`)
  expect(await reserve(client, key_id, wanted)).toBe(wanted)
  const first = await reserve(client, used)
  expect(await reserve(client, used, newId())).toBe(first)
})

test('expired keys: deleted; others stay', async () => {
  const { client, db, another } = await setup()
  const [old, young] = [newId(), newId()]
  for (const key_id of [old, young]) await reserve(client, key_id)
  await db.run(sql`
    update idempotency_keys set expires_at = clock_timestamp() where key_id = ${old}`)
  // The loop runs when it starts.
  await another()
  await expect
    .poll(() => db.rows<{ key_id: string }>(sql`select key_id from idempotency_keys`))
    .toEqual([{ key_id: young }])
})
