import type { UseEntriesRequest } from '@windlass/proto/windlass/identity/v1/secrets'
import { openDb } from '@windlass/runtime/postgres/db'
import { sql } from '@windlass/runtime/postgres/sql'
import { expect, onTestFinished, test } from 'vitest'
import { ConfigUses } from '../src/engine/config-uses.ts'
import { deleteOlder } from '../src/store/used-configs.ts'
import { startIdentity } from './identity-fixture.ts'

const read = (changes: Partial<UseEntriesRequest> = {}): UseEntriesRequest => ({
  ...{ names: ['a', 'b'], namespace: 'team', workflow: 'report', workflow_version: 3 },
  ...{ uploader: '', execution_id: 'e1', worker_name: 'w', client_address: '' },
  ...changes,
})

/** An identity with the config `a` of every namespace and `b` of another namespace. */
async function setup() {
  const { database, db, replica } = await startIdentity()
  const { configs, stop } = await replica()
  await configs.put({ entry: { name: 'a', value_json: '1' } })
  const namespaces = { items: ['other'], all: false }
  await configs.put({ entry: { name: 'b', value_json: '1', namespaces } })
  const uses = async (filter = {}) =>
    (await configs.listUses({ name: '', namespace: '', workflow: '', ...filter })).uses
  const count = async () => (await db.rows(sql`select from config_uses`)).length
  return { database, db, configs, stop, uses, count }
}

/** Uses without a loop, so that a test decides when they are committed and what time it is. */
async function collector(database: string) {
  const db = openDb(database, 'identity')
  onTestFinished(() => db.close())
  let now = Date.parse('2026-01-01T00:00:00Z')
  const collected = new ConfigUses(db, () => now)
  return { collected, pass: (ms: number) => (now += ms) }
}

test('configs for a worker: each that it got is recorded with version and execution', async () => {
  const { configs, uses } = await setup()
  await configs.use(read())
  await expect
    .poll(() => uses())
    .toMatchObject([
      { config: 'a', namespace: 'team', workflow: 'report', version: 3, last_execution_id: 'e1' },
    ])
  // Outside of its scope `b` was not answered.
  expect(await uses({ name: 'b' })).toEqual([])
})

test('reads by operators and by workers that name no execution: not recorded', async () => {
  const { configs, stop, count } = await setup()
  await configs.get({ name: 'a' })
  await configs.getMany({ names: ['a'] })
  await configs.use(read({ namespace: '', workflow: '', workflow_version: 0, execution_id: '' }))
  await stop()
  expect(await count()).toBe(0)
})

test('a service that stops: what was read before is recorded', async () => {
  const { configs, stop, count } = await setup()
  await configs.use(read())
  await stop()
  expect(await count()).toBe(1)
})

test('the same version reads again and again: one write in ten minutes', async () => {
  const { database, uses } = await setup()
  const { collected, pass } = await collector(database)
  const seen = async () => {
    await collected.flush()
    const [use] = await uses()
    return [use?.first_used_at?.toISOString(), use?.last_used_at?.toISOString()]
  }
  const first = '2026-01-01T00:00:00.000Z'
  collected.add(read(), ['a'])
  expect(await seen()).toEqual([first, first])
  pass(599_000)
  for (let i = 0; i < 1_000; i++) collected.add(read({ execution_id: `x${i}` }), ['a'])
  expect(await seen()).toEqual([first, first])
  pass(1_000)
  collected.add(read({ execution_id: 'last' }), ['a'])
  expect(await seen()).toEqual([first, '2026-01-01T00:10:00.000Z'])
  expect(await uses()).toMatchObject([{ last_execution_id: 'last' }])
})

test('several versions and workflows: listed by workflow, with the newest version, last reads first', async () => {
  const { database, uses, count } = await setup()
  const { collected, pass } = await collector(database)
  collected.add(read({ workflow_version: 4 }), ['a'])
  pass(1)
  collected.add(read({ workflow: 'mail' }), ['a', 'b'])
  pass(1)
  collected.add(read(), ['a'])
  await collected.flush()
  expect(await count()).toBe(4)
  const report = { config: 'a', workflow: 'report', version: 4 }
  const mail = { workflow: 'mail', version: 3 }
  expect(await uses({ name: 'a' })).toMatchObject([{ config: 'a', ...mail }, report])
  expect(await uses({ namespace: 'team', workflow: 'mail' })).toMatchObject([
    { config: 'a', ...mail },
    { config: 'b', ...mail },
  ])
  expect(await uses({ namespace: 'other', workflow: 'mail' })).toEqual([])
})

test('a commit that fails: the uses are committed by the next call, with those that were added since', async () => {
  const { database, db, count } = await setup()
  const { collected, pass } = await collector(database)
  collected.add(read(), ['a'])
  await db.run(sql`alter table config_uses rename to hidden`)
  await expect(collected.flush()).rejects.toThrow()
  await db.run(sql`alter table hidden rename to config_uses`)
  // The window has passed, so the same use is added a second time.
  pass(600_000)
  collected.add(read(), ['a'])
  collected.add(read({ workflow_version: 4 }), ['a'])
  await collected.flush()
  expect(await count()).toBe(2)
})

test('a deleted config: its uses are deleted, and one that waits for its commit is left out', async () => {
  const { database, configs, count } = await setup()
  const { collected } = await collector(database)
  collected.add(read(), ['a', 'b'])
  await collected.flush()
  await configs.delete({ name: 'a' })
  expect(await count()).toBe(1)
  collected.add(read({ workflow_version: 4 }), ['a', 'b'])
  await collected.flush()
  expect(await count()).toBe(2)
})

test('uses that are older than the given days: deleted', async () => {
  const { database, db, count } = await setup()
  const { collected } = await collector(database)
  collected.add(read(), ['a', 'b'])
  await collected.flush()
  await db.run(sql`update config_uses set last_used_at = now() where config = 'b'`)
  await db.run(
    sql`update config_uses set last_used_at = now() - interval '401 days' where config = 'a'`,
  )
  expect(await deleteOlder(db, 400)).toBe(1)
  expect(await count()).toBe(1)
})
