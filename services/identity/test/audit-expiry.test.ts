import { sql } from '@windlass/runtime/postgres/sql'
import { expect, test } from 'vitest'
import { deletePruned, expireAudit } from '../src/engine/audit-pruning.ts'
import { entry, tamper, verifyChain } from './audit-fixture.ts'
import { checkpointFixture, rebuild } from './checkpoint-fixture.ts'

test('expired entries: pruned once by replicas that do it at the same time', async () => {
  const all = await checkpointFixture()
  await tamper(all.db, sql`delete from audit_checkpoints`)
  await rebuild(all, [12, 11, 10, 9, 8, 6, 5, 4])
  const pruned = await Promise.all(Array.from({ length: 6 }, () => expireAudit(all, 7)))
  expect(pruned.filter((count) => count > 0)).toEqual([5])
  // Rows that are not deleted yet are not listed.
  const rows = () => all.db.rows<{ seq: number }>(sql`select seq from audit_log order by seq`)
  expect(await rows()).toHaveLength(9)
  expect((await all.list()).entries.map(({ seq }) => seq)).toEqual([6, 7, 8, 9])
  expect(await verifyChain(all)).toMatchObject({ problems: [], checkpoints: [{ entries: 5 }] })
  expect(await Promise.all([deletePruned(all.db, 3), deletePruned(all.db, 3)])).toContain(true)
  while (await deletePruned(all.db, 3)) {}
  expect((await rows()).map(({ seq }) => seq)).toEqual([6, 7, 8, 9])
  expect((await verifyChain(all)).problems).toEqual([])
  expect(await expireAudit(all, 7)).toBe(0)
})

test('the oldest entry less than a day over the age: nothing is pruned', async () => {
  const all = await checkpointFixture()
  await rebuild(all, [7.9, 7.8])
  expect(await expireAudit(all, 7)).toBe(0)
  expect(await expireAudit(all, 6.5)).toBe(2)
})

test('an older entry after a younger one: kept with it', async () => {
  const all = await checkpointFixture()
  await rebuild(all, [20, 6, 20])
  expect(await expireAudit(all, 7)).toBe(1)
})

test('all entries expired: all are pruned, and the log continues with that', async () => {
  const all = await checkpointFixture()
  await tamper(all.db, sql`delete from audit_checkpoints`)
  await rebuild(
    all,
    Array.from({ length: 8 }, () => 30),
  )
  expect(await expireAudit(all, 7)).toBe(8)
  expect((await all.list()).entries.map(({ seq }) => seq)).toEqual([9])
  expect((await verifyChain(all)).problems).toEqual([])
})

test('after a prune: checkpoints of pruned entries are gone, and those of prunes stay', async () => {
  const all = await checkpointFixture()
  await all.prune(7)
  await all.sign()
  await all.prune(8)
  const { checkpoints } = await verifyChain(all)
  expect(checkpoints.map(({ seq, reason, entries }) => [seq, reason, entries])).toEqual([
    [9, 'interval', 2],
    [8, 'prune', 1],
    [7, 'prune', 7],
  ])
})

test('pruned by an earlier release: noted, and not accepted for a later prune', async () => {
  const all = await checkpointFixture()
  await tamper(all.db, sql`delete from audit_checkpoints`)
  const pruneUnsigned = async (seq: number) => {
    const hash = (await all.list()).entries.find((one) => one.seq === seq)?.hash
    const detail_json = JSON.stringify({ to_seq: seq, to_hash: hash?.toString('hex'), deleted: 1 })
    await all.audit.record({ records: [entry({ action: 'audit.prune', detail_json })] })
    await tamper(all.db, sql`delete from audit_log where seq <= ${seq}`)
  }
  await pruneUnsigned(3)
  const expected = {
    problems: [],
    notes: ['entries 1 to 3 were pruned by a release that signed no checkpoints'],
  }
  expect(await verifyChain(all)).toMatchObject(expected)
  await all.sign()
  expect(await verifyChain(all)).toMatchObject(expected)
  await pruneUnsigned(5)
  expect((await verifyChain(all)).problems).toEqual([
    'entries 1 to 5 were pruned, and no valid signed checkpoint covers them',
  ])
})
